import FerryManifest

extension Upload {
  /// The requests of S3 that create, complete, check and abort an upload in parts.
  var withS3Steps: Upload {
    var upload = self
    let url = transfer.request.url
    let id = Template.Segment.reference(.allocate("upload_id"))
    func request(_ method: String, _ query: [Template.Segment], _ keeps: (String) -> Bool) -> RequestTemplate
    {
      var request = RequestTemplate(
        method: method, url: query.isEmpty ? url : url.addingQuery(query),
        headers: transfer.request.headers.filter { keeps($0.name) })
      request.query = transfer.request.query
      request.sign = transfer.request.sign
      request.auth = transfer.request.auth
      return request
    }
    // Omit conditions: they apply to the request that completes the upload, because that request creates the
    // object.
    var creation = request("POST", [.literal("uploads")]) { !S3Multipart.isCondition($0) }
    if let checksum = transfer.checksum {
      creation.headers.removeAll { $0.name.lowercased() == "x-amz-checksum-algorithm" }
      creation.headers.append(
        .init(name: "x-amz-checksum-algorithm", value: Template(literal: checksum.nameInS3)))
    }
    upload.allocate = Allocate(
      token: transfer.token, request: creation,
      // S3 names the root element InitiateMultipartUploadResult. Some servers use other names, which work
      // because Amazon's clients ignore the name.
      capture: [Capture(name: "upload_id", source: .xml(path: "*/UploadId"))])
    var completion = request("POST", [.literal("uploadId="), id]) {
      S3Multipart.isCondition($0) || !S3Multipart.describesObject($0)
    }
    completion.body = .listOfParts
    var expected = Expectation()
    expected.element = "*/ETag"
    var etag = Expectation()
    etag.hasETagOfParts = true
    upload.commit = Commit(
      token: transfer.token, request: completion, expect: expected,
      probe: .init(request: request("HEAD", []) { !S3Multipart.describesObject($0) }, expect: etag))
    upload.abandon = Abandon(
      token: transfer.token,
      request: request("DELETE", [.literal("uploadId="), id]) { !S3Multipart.describesObject($0) })
    return upload
  }
}

extension S3Multipart {
  /// Whether a header field is sent only with the request that creates an object, not with the requests for
  /// its parts.
  package static func describesObject(_ name: String) -> Bool {
    let name = name.lowercased()
    if isCondition(name) || name.hasPrefix("content-") { return true }
    if ["cache-control", "expires"].contains(name) { return true }
    // The key that a customer provides is needed for every part.
    let isOfRequest =
      name.hasPrefix("x-amz-server-side-encryption-customer-")
      || [
        "x-amz-request-payer", "x-amz-expected-bucket-owner", "x-amz-security-token",
        "x-amz-sdk-checksum-algorithm",
      ].contains(name)
    return name.hasPrefix("x-amz-") && !isOfRequest
  }

  /// Whether a header field makes a request conditional (RFC 9110, section 13.1).
  package static func isCondition(_ name: String) -> Bool { name.lowercased().hasPrefix("if-") }
}

extension Template {
  /// The URL with parameters added to its query.
  fileprivate func addingQuery(_ query: [Segment]) -> Template {
    let hasQuery = segments.contains { segment in
      if case .literal(let text) = segment { text.contains("?") } else { false }
    }
    return Template(segments + [.literal(hasQuery ? "&" : "?")] + query)
  }
}

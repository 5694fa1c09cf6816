extension ManifestDecoder {
  /// The header fields that a signature sets, in lower case.
  private static let signedFields: Set = [
    "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token",
  ]

  /// F0328. Reports header fields of signed requests that the signature also sets, and bodies that cannot be
  /// signed.
  mutating func checkSigning(_ manifest: Manifest) {
    let sessions = Dictionary(
      manifest.sessions.map { ($0.name.value, $0.sign) }, uniquingKeysWith: { first, _ in first })
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) {
      guard case .awsV4 = request.template.sign ?? sessions[request.session] ?? nil else { continue }
      let session = declared.declaration(request.session, in: .sessions)?.node
      for headers in [request.node["headers"], session?["headers"]] {
        for header in headers?.members ?? [] {
          reportSigned(header.key, &reported, help: "remove it, or write 'sign: none' next to the request")
        }
      }
      if let token = request.token, let header = tokenHeader(of: token, manifest) {
        reportSigned(
          header, &reported,
          help:
            "remove 'token: \(token.clipped)' from the signed requests, or add 'sign: none' to them"
        )
      }
      if let (what, help) = unsignable(request.template.body),
        reported.insert(request.node.location).inserted
      {
        report(.signedRequest, at: request.node.location, "\(what) cannot be signed", help: help)
      }
    }
  }

  /// A body whose digest is not known when the signature is computed, and the remedy; `nil` for any other body.
  private func unsignable(_ body: RequestTemplate.Body) -> (what: String, help: String)? {
    let help = "write 'sign: none' next to the request"
    return switch body {
    case .multipart: ("a 'multipart_form' transfer", "write 'sign: none' in 'transfer'")
    case .parts: ("a request with 'multipart'", help)
    case .file: ("a request with 'body: { file: … }'", help)
    case .none, .form, .json, .text, .oauth2, .listOfParts: nil
    }
  }

  private mutating func reportSigned(
    _ header: Located<String>, _ reported: inout Set<SourceLocation>, help: String
  ) {
    guard Self.signedFields.contains(header.value.lowercased()), reported.insert(header.location).inserted
    else { return }
    report(
      .signedRequest, at: header.location, "the header \(header.value.quoted) is set by 'sign'", help: help)
  }
}

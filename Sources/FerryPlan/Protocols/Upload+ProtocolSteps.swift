import FerryManifest

extension RequestTemplate {
  /// Whether a header field of the first request describes the file, and is therefore not sent to its upload resource.
  package static func describesFile(_ field: String) -> Bool {
    let name = field.lowercased()
    return name.hasPrefix("content-") || ["repr-digest", "want-repr-digest"].contains(name)
  }
}

extension Upload {
  /// The upload with the steps of its protocol where the manifest does not declare them.
  var withProtocolSteps: Upload {
    switch transfer.protocol {
    case .tus where allocate == nil: withTusSteps
    case .resumable where abandon == nil: withCancellation
    case .s3Multipart: withS3Steps
    case .put, .post, .multipartForm, .contentRange, .tus, .resumable: self
    }
  }

  /// A DELETE of the upload resource cancels an unused upload. The resource is kept as a capture of `allocate`.
  private var withCancellation: Upload {
    var upload = self
    var cancellation = transfer.request
    cancellation.method = "DELETE"
    cancellation.url = Template([.reference(.allocate(Resumable.resourceCapture))])
    cancellation.headers.removeAll { RequestTemplate.describesFile($0.name) }
    cancellation.headers.append(
      .init(
        name: "Upload-Draft-Interop-Version",
        value: Template(literal: "\(transfer.interopVersion ?? Resumable.defaultInteropVersion)")))
    upload.abandon = Abandon(
      token: transfer.token, request: cancellation,
      // With 405 or 501, the server does not implement cancellation, so there is nothing that ferry could release.
      expect: Expectation(status: [200, 202, 204, 405, 501]))
    return upload
  }

  /// A POST of the transfer's URL creates the upload; its `Location` is the URL of the transfer. A DELETE of that URL
  /// terminates an unused upload.
  private var withTusSteps: Upload {
    var upload = self
    let version = RequestTemplate.Field(name: "Tus-Resumable", value: Template(literal: Tus.version))
    var creation = transfer.request
    creation.method = "POST"
    creation.headers += [
      version, .init(name: "Upload-Length", value: Template([.reference(.file(.size))])),
    ]
    creation.metadata = transfer.metadata
    // Whoever knows the URL of a tus upload can often write to it.
    upload.allocate = Allocate(
      token: transfer.token, request: creation,
      capture: [Capture(name: "url", source: .header("Location"), isSecret: true)])
    upload.transfer.request.url = Template([.reference(.allocate("url"))])
    guard abandon == nil else { return upload }
    var termination = upload.transfer.request
    termination.method = "DELETE"
    termination.headers.append(version)
    upload.abandon = Abandon(
      token: transfer.token, request: termination,
      // With 405 or 501, the server does not implement termination, so there is nothing that ferry could release.
      expect: Expectation(status: [200, 202, 204, 405, 501]))
    return upload
  }
}

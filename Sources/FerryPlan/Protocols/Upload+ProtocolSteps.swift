import FerryManifest

extension RequestTemplate {
  /// Whether a header field of the first request describes the file, and is therefore not sent to its upload resource.
  package static func describesFile(_ field: String) -> Bool {
    let name = field.lowercased()
    return name.hasPrefix("content-") || name == "upload-metadata"
      || ["repr-digest", "want-repr-digest"].contains(name)
  }
}

extension Upload {
  /// The upload, with the steps of its protocol added where the manifest does not declare them.
  var withProtocolSteps: Upload {
    switch transfer.protocol {
    case .tus where allocate != nil: withoutCreation
    case .tus where concatenatesParts: withTusConcatenation
    case .tus where transfer.creation == .withUpload: withTusCreation
    case .tus: withTusSteps
    case .resumable where abandon == nil: withCancellation
    case .s3Multipart: withS3Steps
    case .put, .post, .multipartForm, .contentRange, .resumable: self
    }
  }

  /// A DELETE of the upload resource cancels an unused upload. The resource is kept as a capture of `allocate`.
  private var withCancellation: Upload {
    var upload = self
    upload.abandon = release(
      .init(
        name: "Upload-Draft-Interop-Version",
        value: Template(literal: "\(transfer.interopVersion ?? Resumable.defaultInteropVersion)")))
    return upload
  }

  /// The `abandon` step that deletes the upload resource.
  private func release(_ version: RequestTemplate.Field) -> Abandon {
    var request = transfer.request
    request.method = "DELETE"
    request.url = Template([.reference(.allocate(Resumable.resourceCapture))])
    request.query = []
    request.headers.removeAll { RequestTemplate.describesFile($0.name) }
    request.headers.append(version)
    return Abandon(
      token: transfer.token, request: request,
      // With 405 or 501, the server does not implement DELETE, so there is nothing that ferry could release.
      expect: Expectation(status: [200, 202, 204, 405, 501]))
  }

  /// The upload without the settings for creation by the transfer, because its `allocate` step creates the
  /// upload.
  private var withoutCreation: Upload {
    var upload = self
    upload.transfer.creation = nil
    upload.transfer.parallelParts = nil
    return upload
  }

  /// The transfer's requests create the partial uploads of a file and send its parts. The commit concatenates them.
  private var withTusConcatenation: Upload {
    var upload = withTusCreation
    // The declared metadata, expectation and captures belong to the whole upload, which the commit creates.
    upload.transfer.creation = nil
    upload.transfer.request.metadata = []
    upload.transfer.expect = Expectation()
    upload.transfer.capture = []
    var request = upload.transfer.request
    request.metadata = transfer.metadata
    request.headers += [
      .init(name: "Tus-Resumable", value: Template(literal: Tus.version)),
      .init(
        name: "Upload-Concat",
        value: Template([.literal("final;"), .reference(.allocate(Tus.concatenationCapture))])),
    ]
    var expect = transfer.expect
    // The response to the creation of an upload has its URL.
    expect.hasLocation = true
    upload.commit = Commit(token: transfer.token, request: request, expect: expect)
    return upload
  }

  /// The transfer's first request creates the upload with the first bytes of the file. A DELETE of the upload resource
  /// terminates an unused upload.
  private var withTusCreation: Upload {
    var upload = self
    upload.transfer.request.method = "POST"
    if abandon == nil {
      upload.abandon = release(.init(name: "Tus-Resumable", value: Template(literal: Tus.version)))
    }
    upload.transfer.request.metadata = transfer.metadata
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
    // The URL is secret, because anyone who knows the URL of a tus upload can often write to it.
    upload.allocate = Allocate(
      token: transfer.token, request: creation,
      capture: [Capture(name: "url", source: .header("Location"), isSecret: true)])
    upload.transfer.request.url = Template([.reference(.allocate("url"))])
    upload.transfer.request.query = []
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

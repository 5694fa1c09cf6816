import FerryPlan
import FerryTransfer

/// Bodies that contain a file.
extension RequestFactory {
  /// Sets the body of a request that is not a transfer, if it contains a file or has several parts. The file is looked
  /// up for each attempt, because an earlier node may write it.
  func setBody(
    _ built: BuiltRequest, of node: NodeID, _ request: inout TransferRequest
  ) throws(TransportFailure) {
    var source: TransferRequest.FileSource?
    if let path = built.bodyFile {
      let isAbsolute = path.utf8.first == UInt8(ascii: "/")
      source = try .current(isAbsolute ? path : "\(jobs.job(of: node).folder)/\(path)")
    }
    if let parts = built.form {
      try setForm(parts, source, of: &request)
    } else if let source {
      request.body = .file(source)
    }
  }

  /// Sets a form as the request's body, with a new boundary for each attempt.
  func setForm(
    _ parts: FormParts, _ source: TransferRequest.FileSource?, of request: inout TransferRequest
  ) throws(TransportFailure) {
    guard let framing = FormFraming(parts, random: random) else {
      throw TransportFailure(
        .request, "no boundary could be found that does not occur in the form", mayHaveReachedServer: false)
    }
    // A Content-Type of the session does not describe this body.
    request.headers.removeAll { $0.name.lowercased() == "content-type" }
    request.headers.append(.init(name: "Content-Type", value: framing.contentType))
    request.body =
      source.map { .form(FileBody($0, prefix: framing.prefix, suffix: framing.suffix)) }
      ?? .bytes(framing.prefix + framing.suffix)
  }
}

import FerryManifest

/// The content of the response to a fetch or download, according to the response's status (RFC 9110, sections
/// 15.3 and 15.4.5).
package enum FetchContent: Hashable, Sendable {
  /// The body is the document, which replaces the file.
  case document
  /// The document has not changed, provided that the request carried a validator.
  case notModified
  /// There is no document, but the manifest lists the status: a success that changes neither the file nor
  /// its validators.
  case nothing
  /// There is no document, and the manifest does not list the status: a failure.
  case unexpected
}

extension Step {
  /// The content of a response with this status to a fetch or download.
  ///
  /// | status | without `expect.status` | listed there |
  /// |---|---|---|
  /// | 200 | document | document |
  /// | 204, 205: no content | unexpected | nothing |
  /// | 206, 226: a part, a delta; ferry requests neither | unexpected | unexpected |
  /// | another 2xx: 201 and 202 describe what was done, 203 is a proxy's version | unexpected | document |
  /// | 304 | not modified | not modified |
  /// | any other | unexpected | nothing |
  ///
  /// A response to HEAD never contains a document.
  package func content(of status: Int) -> FetchContent {
    let isExpected = expect.status.isEmpty ? status == 200 : expect.status.contains(status)
    switch status {
    case 304: return .notModified
    case 206, 226: return .unexpected
    case 204, 205: return isExpected ? .nothing : .unexpected
    case 200...299 where request.method != "HEAD": return isExpected ? .document : .unexpected
    default: return isExpected ? .nothing : .unexpected
    }
  }

  /// The reason why a fetch does not store an unexpected 2xx response.
  ///
  /// - Parameter askedForRest: whether the request asked for a part of the document.
  func refusal(of status: Int, askedForRest: Bool) -> String {
    let response = "the server responded to \(request.method) with \(status)"
    switch status {
    case 204, 205: return "\(response), which has no content to store"
    case 206 where askedForRest: return "\(response), a part of the document other than the requested one"
    case 206: return "\(response), a part of the document that was not requested"
    case 226: return "\(response), a delta that was not requested"
    case 200...299 where status != 200:
      return
        "\(response), but a fetch stores only a 200 by default; to store this response, list its status in 'expect: { status: [\(status)] }'"
    default: return RecordedFailure.statusMessage(status, to: request.method)
    }
  }
}

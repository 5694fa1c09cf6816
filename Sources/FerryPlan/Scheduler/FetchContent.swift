import FerryManifest

/// What the response to a fetch contains, according to its status (RFC 9110, sections 15.3 and 15.4.5).
package enum FetchContent: Hashable, Sendable {
  /// The body is the document, which replaces the file.
  case document
  /// The document has not changed, provided that the request carried a validator.
  case notModified
  /// No document, but the manifest lists the status: a success that changes neither the file nor its
  /// validators.
  case nothing
  /// No document, and the manifest does not list the status: a failure.
  case unexpected
}

extension Step {
  /// What a response with this status contains for this fetch.
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
  /// A response to HEAD has no document, whatever its status.
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

  /// Why a fetch does not store a 2xx response that it does not expect.
  func refusal(of status: Int) -> String {
    let response = "the server responded \(status) to \(request.method)"
    switch status {
    case 204, 205: return "\(response): it has no document to store"
    case 206: return "\(response): part of the document, which was not requested"
    case 226: return "\(response): a delta to a document, which was not requested"
    case 200...299 where status != 200:
      return
        "\(response): a fetch stores only a 200; to store this, list it in 'expect: { status: [\(status)] }'"
    default: return response
    }
  }
}

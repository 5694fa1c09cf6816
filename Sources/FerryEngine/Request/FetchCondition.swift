import FerryJournal
import FerryPlan
import FerryTransfer

/// The condition of a fetch's request, and its effect on the interpretation of the response (RFC 9110,
/// section 13.1).
enum FetchCondition {
  case absent
  case entityTag(String)
  case lastModified(String)
  /// The manifest has its own conditional header fields, so ferry adds none.
  case written

  /// - Parameter record: describes the document on disk; `nil` if there is no document, or after a request with the
  ///   document's validators was rejected.
  init(_ request: TransferRequest, _ record: FetchRecord?) {
    if Self.isWritten(in: request) {
      self = .written
      return
    }
    // With other methods, `If-None-Match` would make the server ignore the request (RFC 9110, section
    // 13.1.2).
    guard request.method == "GET", let record else {
      self = .absent
      return
    }
    // A validator recorded by an earlier version of ferry may be invalid in a request.
    if let tag = record.etag, Validator.isEntityTag(tag) {
      self = .entityTag(tag)
    } else if let date = record.lastModified, Validator.isDate(date) {
      self = .lastModified(date)
    } else {
      self = .absent
    }
  }

  var header: TransferRequest.HeaderField? {
    switch self {
    case .absent, .written: nil
    case .entityTag(let tag): .init(name: "If-None-Match", value: tag)
    case .lastModified(let date): .init(name: "If-Modified-Since", value: date)
    }
  }

  func seen(in answer: TransferResponse) -> AttemptResult.Condition {
    switch self {
    case .absent: .absent
    case .written: .written
    case .entityTag(let tag): .recorded(isNamed: Validator.isNamed(entityTag: tag, in: answer))
    case .lastModified(let date): .recorded(isNamed: Validator.isNamed(lastModified: date, in: answer))
    }
  }

  /// Whether the manifest has its own header fields for conditions.
  static func isWritten(in request: TransferRequest) -> Bool {
    request.headers.contains { isCondition($0.name) }
  }

  private static func isCondition(_ name: String) -> Bool {
    switch name.lowercased() {
    case "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range": true
    default: false
    }
  }
}

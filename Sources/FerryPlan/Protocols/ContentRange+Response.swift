/// The requests of upload sessions, and the information in their responses.
///
/// The formats are those of Google ("Resume an interrupted upload" in the documentation of Drive and Cloud Storage),
/// Microsoft Graph (`createUploadSession`) and the distribution specification of the Open Container Initiative.
extension ContentRange {
  package func request(for operation: TransferOperation, size: Int64) -> OperationRequest {
    var request = OperationRequest(keeps308: form == .bytes)
    if operation == .queryOffset { request.method = queryMethod }
    if let value = field(for: operation, size: size) { request.set("Content-Range", value) }
    return request
  }

  private var queryMethod: String {
    switch offsetQuery {
    case .put: "PUT"
    case .get: "GET"
    case .head: "HEAD"
    }
  }

  /// The value of `Content-Range` in a request; `nil` if the request has no such field.
  private func field(for operation: TransferOperation, size: Int64) -> String? {
    switch operation {
    case .whole, .create: return nil
    case .queryOffset, .queryPart, .listParts: return offsetQuery == .put ? "bytes */\(size)" : nil
    case .send(let range):
      switch form {
      // RFC 9110 cannot express an empty range.
      case .bytes where range.isEmpty: return "bytes */\(size)"
      case .bytes: return "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
      case .bare: return range.isEmpty ? nil : "\(range.lowerBound)-\(range.upperBound - 1)"
      }
    }
  }

  package func read(
    _ response: any OperationResponse, to operation: TransferOperation, size: Int64
  ) -> TransferReading {
    let response = Response(response, isJSONRead: form == .bytes)
    switch response.status {
    case 308 where form == .bytes:
      guard let field = response.ranges.first else { return .offset(0) }
      return reading(stored(field, among: response.ranges))
    case 200...299:
      switch operation {
      case .whole, .create: return .other
      case .queryOffset, .queryPart, .listParts: return readQuery(response, size: size)
      case .send(let range):
        switch form {
        case .bytes: return readPart(response, of: range, size: size)
        case .bare: return readBarePart(response, of: range, size: size)
        }
      }
    case 416 where form == .bare:
      // A registry states its offset when it refuses a part.
      guard case .send(let range) = operation, let field = response.ranges.first,
        case .success(let stored) = stored(field, among: response.ranges)
      else { return .refused }
      // `0-0` may also mean an empty upload, but then the registry would not refuse a part that starts at 0.
      let offset = stored == 1 && range.lowerBound > 0 ? 0 : stored
      return offset <= range.upperBound && offset != range.lowerBound ? .offset(offset) : .refused
    // The server has a different offset.
    case 409, 416: return .refused
    default: return .other
    }
  }

  /// The parts of a response that may state an offset.
  private struct Response {
    var status: Int
    /// The values of the `Range` fields.
    var ranges: [String]
    /// The `nextExpectedRanges` of a JSON body (Microsoft Graph).
    var expected: StringArray

    init(_ response: any OperationResponse, isJSONRead: Bool) {
      status = response.status
      ranges = response.values(of: "Range")
      expected =
        isJSONRead && 200...299 ~= response.status ? response.strings(at: "/nextExpectedRanges") : .absent
    }
  }

  private func readQuery(_ response: Response, size: Int64) -> TransferReading {
    if let reading = readExpected(response.expected) { return reading }
    if let field = response.ranges.first {
      return reading(stored(field, among: response.ranges).map { emptied($0, at: 0) })
    }
    switch offsetQuery {
    // A status of success means that the upload itself has completed.
    case .put: return .other
    case .get, .head:
      return .malformed(
        "the response to the offset query contains no offset: it has neither a Range field nor 'nextExpectedRanges'"
      )
    }
  }

  private func readPart(_ response: Response, of range: Range<Int64>, size: Int64) -> TransferReading {
    switch response.expected {
    // The response to the last part may be any document.
    case .malformed where range.upperBound == size, .tooLarge where range.upperBound == size: return .other
    case .absent, .malformed, .tooLarge, .listed: break
    }
    return readExpected(response.expected) ?? .other
  }

  private func readBarePart(_ response: Response, of range: Range<Int64>, size: Int64) -> TransferReading {
    // Before version 1.1 of the specification, a response needed no Range.
    guard let field = response.ranges.first else {
      return range.upperBound == size ? .other : .offset(range.upperBound)
    }
    switch stored(field, among: response.ranges).map({ emptied($0, at: range.upperBound) }) {
    case .success(size): return .other
    case .success(let offset): return .offset(offset)
    case .failure(let problem): return .malformed(problem.message)
    }
  }

  /// Corrects the number of stored bytes: registries state `0-0` not only for one byte, but also for an empty
  /// upload.
  ///
  /// - Parameter end: the end of the part that was sent, or 0 for a query. One stored byte is plausible only
  ///   if this is 1.
  private func emptied(_ stored: Int64, at end: Int64) -> Int64 {
    form == .bare && stored == 1 && end != 1 ? 0 : stored
  }

  private func readExpected(_ expected: StringArray) -> TransferReading? {
    switch expected {
    case .absent: return nil
    case .malformed: return .malformed("'nextExpectedRanges' in the response is not an array of strings")
    case .tooLarge: return .malformed("the response is too large to be searched for 'nextExpectedRanges'")
    // The server has all bytes.
    case .listed(let ranges) where ranges.isEmpty: return .other
    case .listed(let ranges):
      var first: Int64?
      for range in ranges {
        guard let start = Self.start(of: range) else {
          return .malformed("'nextExpectedRanges' in the response contains a malformed range")
        }
        first = min(first ?? start, start)
      }
      return first.map { .offset($0) }
    }
  }

  /// The start of `26-`, `26-99` or `26`.
  private static func start(of range: String) -> Int64? {
    let ends = range.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let start = ends.first.flatMap({ Int64(digits: $0) }) else { return nil }
    guard ends.count == 2, !ends[1].isEmpty else { return start }
    guard let end = Int64(digits: ends[1]), end >= start else { return nil }
    return start
  }

  private struct Problem: Error { var message: String }

  private func reading(_ result: Result<Int64, Problem>) -> TransferReading {
    switch result {
    case .success(let offset): .offset(offset)
    case .failure(let problem): .malformed(problem.message)
    }
  }

  /// The number of bytes that a `Range` field states: `bytes=0-41` and `0-41` are 42 bytes.
  private func stored(_ field: String, among fields: [String]) -> Result<Int64, Problem> {
    guard fields.allSatisfy({ $0 == field }), !field.utf8.contains(UInt8(ascii: ",")) else {
      return .failure(.init(message: "the response states several ranges, but parts are sent in order"))
    }
    var text = Substring(field)
    if text.prefix(6).lowercased() == "bytes=" { text = text.dropFirst(6) }
    // The empty range, as some registries compute it.
    if form == .bare, text == "0--1" { return .success(0) }
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let start = Int64(digits: ends[0]), let end = Int64(digits: ends[1]), end < .max
    else {
      return .failure(.init(message: "the Range field of the response is malformed"))
    }
    guard start == 0 else {
      return .failure(.init(message: "the Range field of the response does not start at byte 0"))
    }
    return .success(end + 1)
  }
}

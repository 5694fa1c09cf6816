import FerryManifest
import FerryPlan
import FerryTransfer

/// Responses to one of several requests in which a transfer sends its file.
extension ResponseInterpreter {
  /// The offset that a response states. Captures and the URL of the session are read by the caller.
  static func offset(
    _ machine: ContentRange, in answer: TransferResponse, to operation: TransferOperation, size: Int64
  ) -> ContentRange.Reading {
    let ranges = answer.headers.filter { $0.name.lowercased() == "range" }.map(\.value)
    let isJSONRead = machine.form == .bytes && 200...299 ~= answer.status
    return machine.read(
      .init(
        status: answer.status, ranges: ranges,
        expected: isJSONRead ? expectedRanges(in: answer) : .absent),
      to: operation, size: size)
  }

  /// The maximum size of a body with `nextExpectedRanges`, in bytes.
  private static let longestBody = 64 << 10

  private static func expectedRanges(in answer: TransferResponse) -> ContentRange.ExpectedRanges {
    let first = answer.body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard first == UInt8(ascii: "{") else { return .absent }
    guard !answer.isBodyCut, answer.body.count <= longestBody else { return .tooLarge }
    // The body is that of another kind of response.
    guard let json = try? JSONParser.parse(answer.body) else { return .absent }
    guard let value = json.value(at: "/nextExpectedRanges") else { return .absent }
    guard case .array(let elements) = value else { return .malformed }
    var ranges: [String] = []
    for element in elements {
      guard case .string(let range) = element else { return .malformed }
      ranges.append(range)
    }
    return .listed(ranges)
  }
}

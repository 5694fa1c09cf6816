import FerryPlan

/// A response to an operation of a transfer, as a test specifies it.
struct StatedResponse: OperationResponse, Sendable {
  var status: Int
  var fields: [String: [String]]
  /// The `nextExpectedRanges` of the body.
  var expected: StringArray
  /// The `type` of a problem document.
  var type: String?

  init(
    status: Int, ranges: [String] = [], fields: [String: [String]] = [:], expected: StringArray = .absent,
    type: String? = nil
  ) {
    self.type = type
    self.status = status
    self.fields = fields.merging(["range": ranges]) { own, _ in own }
    self.expected = expected
  }

  var s3ErrorCode: String?
  var listedParts: PartList?

  func values(of field: String) -> [String] { fields[field.lowercased()] ?? [] }
  func string(at pointer: String) -> String? { pointer == "/type" ? type : nil }
  func strings(at pointer: String) -> StringArray { pointer == "/nextExpectedRanges" ? expected : .absent }
}

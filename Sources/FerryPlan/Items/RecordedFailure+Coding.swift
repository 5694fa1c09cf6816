// In a document `until` is RFC 3339, as every moment there.
extension RecordedFailure {
  private enum CodingKeys: String, CodingKey {
    case code
    case status
    case message
    case until
    case budget
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encodeIfPresent(status, forKey: .status)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(until?.rfc3339, forKey: .until)
    try container.encodeIfPresent(budget, forKey: .budget)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let until = try container.decodeIfPresent(String.self, forKey: .until)
    self.init(
      code: try container.decode(String.self, forKey: .code),
      status: try container.decodeIfPresent(Int.self, forKey: .status),
      message: try container.decode(String.self, forKey: .message),
      until: try until.map {
        guard let moment = Instant(rfc3339: $0) else {
          throw DecodingError.dataCorruptedError(
            forKey: .until, in: container, debugDescription: "\($0) is no moment of RFC 3339")
        }
        return moment
      },
      budget: try container.decodeIfPresent(BudgetFigures.self, forKey: .budget))
  }
}

import FerryPlan

/// The words that users see.
extension FailureCode: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

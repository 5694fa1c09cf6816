import FerryPlan

/// Lets tests write a failure code as the text that users see.
extension FailureCode: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

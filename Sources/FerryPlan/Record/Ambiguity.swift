/// What a person needs to decide whether a request was carried out whose answer was lost. Its keys are an interface.
package struct Ambiguity: Hashable, Codable, Sendable {
  /// The request that may have been carried out.
  package var step: Step.Kind
  /// When its answer was given up.
  package var at: String?
  /// Scheme, host and port that it went to, where they are known.
  package var origin: String?
  /// What the server gave for the item and is no secret, such as the upload ID.
  package var captures: [String: String]?
  /// The command lines that decide: carried out; not carried out.
  package var resolve: [String]

  package init(
    step: Step.Kind, at: Instant?, origin: String?, captures: [String: String], resolve: [String]
  ) {
    self.step = step
    self.at = at?.rfc3339
    self.origin = origin
    self.captures = captures.isEmpty ? nil : captures
    self.resolve = resolve
  }
}

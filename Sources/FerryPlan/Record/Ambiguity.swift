/// What a user needs to decide whether a request was executed whose response was lost. Its keys are part of
/// the public interface.
package struct Ambiguity: Hashable, Codable, Sendable {
  /// The request that may have been executed.
  package var step: Step.Kind
  /// When ferry stopped waiting for its response.
  package var at: String?
  /// The scheme, host and port of the request, if they are known.
  package var origin: String?
  /// The scheme, host and port to which that server redirected it, if they are others.
  package var redirectedTo: String?
  /// The values that the server returned for the item and that are not secret, such as the upload ID.
  package var captures: [String: String]?
  /// The command lines for the decision: first for "executed", then for "not executed".
  package var resolve: [String]

  package init(
    step: Step.Kind, at: Instant?, origin: String?, redirectedTo: String? = nil, captures: [String: String],
    resolve: [String]
  ) {
    self.redirectedTo = redirectedTo == origin ? nil : redirectedTo
    self.step = step
    self.at = at?.rfc3339
    self.origin = origin
    self.captures = captures.isEmpty ? nil : captures
    self.resolve = resolve
  }
}

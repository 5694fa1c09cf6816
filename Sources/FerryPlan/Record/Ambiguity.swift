/// The information that a user needs to decide whether a request with a lost response was executed. The JSON
/// keys are a stable public interface.
package struct Ambiguity: Hashable, Codable, Sendable {
  /// The request that may have been executed.
  package var step: Step.Kind
  /// Whether the request, a commit, failed, but cannot be given up because its transfer must not be repeated. `nil` for no.
  package var failed: Bool?
  /// The time at which ferry stopped waiting for the response.
  package var at: String?
  /// The scheme, host and port of the request, if known.
  package var origin: String?
  /// The scheme, host and port to which the server at `origin` redirected the request; `nil` if they are
  /// those of `origin`.
  package var redirectedTo: String?
  /// The values that the server returned for the item and that are not secret, such as the upload ID.
  package var captures: [String: String]?
  /// The command lines for the decisions: first "executed", then "not executed" and, for a transfer before a commit,
  /// "the commit was executed too". Empty if the session is ephemeral: its items are not recorded, and the next run sends
  /// them again.
  package var resolve: [String]

  package init(
    step: Step.Kind, failed: Bool = false, at: Instant?, origin: String?, redirectedTo: String? = nil,
    captures: [String: String],
    resolve: [String]
  ) {
    self.redirectedTo = redirectedTo == origin ? nil : redirectedTo
    self.step = step
    self.failed = failed ? true : nil
    self.at = at?.rfc3339
    self.origin = origin
    self.captures = captures.isEmpty ? nil : captures
    self.resolve = resolve
  }
}

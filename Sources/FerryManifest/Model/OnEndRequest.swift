/// A request of `on_end`, which is sent regardless of how a run ends.
package struct OnEndRequest: Equatable, Sendable {
  /// The request. It has no `needs` and no captures; its `when` refers to the run's exit code.
  package var request: SingleRequest
  /// The time limit for the request, its retries and its token, counted from the end of the run's work, or from
  /// the signal or deadline that stopped it. Default 30 s.
  package var grace: Duration
  /// Whether a failure of the request affects the exit code like a failure of an item. Default false.
  package var isRequired: Bool

  package init(request: SingleRequest, grace: Duration = .seconds(30), isRequired: Bool = false) {
    self.request = request
    self.grace = grace
    self.isRequired = isRequired
  }
}

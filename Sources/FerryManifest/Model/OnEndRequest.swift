/// A request of `on_end`, sent however a run ends.
package struct OnEndRequest: Equatable, Sendable {
  /// The request. It has no `needs` and no captures; its `when` refers to the run's exit code.
  package var request: SingleRequest
  /// The time limit for the request, its retries and its token, counted from the end of the run's work, or from
  /// the signal or deadline that stopped it. Default 30 s.
  package var grace: Duration
  /// Whether a failure of the request counts as that of an item in the exit code. Default false.
  package var isRequired: Bool

  package init(request: SingleRequest, grace: Duration = .seconds(30), isRequired: Bool = false) {
    self.request = request
    self.grace = grace
    self.isRequired = isRequired
  }
}

import FerryManifest

/// A difference between two manifests of one launch in a value that both have to share.
package struct PlanConflict: Error, Hashable, Sendable {
  package var first: ManifestID
  package var second: ManifestID
  /// The identifier of the shared session; `nil` for a policy of the whole manifest.
  package var session: String?
  /// The key, as written in a manifest: `max_connections_per_host`, `budgets.wifi`.
  package var key: String

  package init(_ first: ManifestID, _ second: ManifestID, session: String? = nil, key: String) {
    self.first = first
    self.second = second
    self.session = session
    self.key = key
  }
}

extension SessionPlan {
  /// The first key whose value differs. `headers`, `redirects`, `sign`, `auth` and `connection` belong to
  /// each manifest and may differ.
  func difference(from other: SessionPlan) -> String? {
    if kind != other.kind { return "kind" }
    if maxConnectionsPerHost != other.maxConnectionsPerHost { return "max_connections_per_host" }
    if timeoutForRequest != other.timeoutForRequest { return "timeout_for_request" }
    if timeoutForResource != other.timeoutForResource { return "timeout_for_resource" }
    if discretionary != other.discretionary { return "discretionary" }
    if allowsCellular != other.allowsCellular { return "allows_cellular" }
    if allowsExpensive != other.allowsExpensive { return "allows_expensive" }
    if onEvents != other.onEvents { return "on_events" }
    if maxBandwidth != other.maxBandwidth { return "max_bandwidth" }
    return nil
  }
}

extension Policies {
  /// The first key that differs.
  func difference(from other: Policies) -> String? {
    for scope in Budget.Scope.allCases where budgets[scope] != other.budgets[scope] {
      return "budgets.\(scope.rawValue)"
    }
    if maxBandwidth != other.maxBandwidth { return "max_bandwidth" }
    if resumeDelay != other.resumeDelay { return "resume_delay" }
    if executionWindow != other.executionWindow { return "execution_window" }
    if forceQuit != other.forceQuit { return "force_quit" }
    return nil
  }
}

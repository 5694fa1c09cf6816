import FerryPlan

/// A manifest as last run, so that `ferry resume` can run it again.
package struct JobRow: Hashable, Sendable {
  /// The manifest's name.
  package var manifest: String
  /// The path of the manifest.
  package var path: String
  /// The variables given with `--var`; they do not contain secrets.
  package var variables: [String: String]
  package var registeredAt: Instant

  package init(manifest: String, path: String, variables: [String: String], registeredAt: Instant) {
    self.manifest = manifest
    self.path = path
    self.variables = variables
    self.registeredAt = registeredAt
  }
}

/// One pass over a manifest.
package struct RoundRow: Hashable, Sendable {
  package var manifest: String
  /// The number of the round, starting at 1.
  package var number: Int64
  package var openedAt: Instant
  package var closedAt: Instant?
  /// The ID of the run that closed the round; `nil` if a command such as `ferry cancel`, or a version of ferry before
  /// schema 9, closed it.
  package var closedBy: String?
  /// Identifies the pass over all parts of a divided manifest to which the round belongs; `nil` for a manifest that is
  /// not divided, and for a round that a shard opened by itself.
  package var pass: String?

  package init(
    manifest: String, number: Int64, openedAt: Instant, closedAt: Instant? = nil, closedBy: String? = nil,
    pass: String? = nil
  ) {
    self.manifest = manifest
    self.number = number
    self.openedAt = openedAt
    self.closedAt = closedAt
    self.closedBy = closedBy
    self.pass = pass
  }
}

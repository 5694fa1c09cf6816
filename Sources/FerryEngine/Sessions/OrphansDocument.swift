import FerryPlan

/// Upload IDs that will not be used, as `ferry orphans --format json` writes them. Its keys are an interface.
package struct OrphansDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// When it was looked at.
  package var at: String
  package var orphans: [Entry]
  /// Sessions whose journals cannot be read; absent where there are none.
  package var problems: [Problem]?

  package struct Problem: Encodable, Sendable {
    package var session: String
    /// Why nothing can be told of it.
    package var problem: String
  }

  package struct Entry: Encodable, Sendable {
    package var session: String
    /// Within its session; what `--forget` takes.
    package var id: Int64
    package var manifest: String
    package var upload: String
    /// Scheme, host and port that the ID was asked of; empty where only a capture tells.
    package var origin: String
    /// Of the file, relative to `root`.
    package var path: String
    /// Where the name is not UTF-8: its bytes.
    package var pathBase64: String?
    /// By name; without those that are secret.
    package var captures: [String: String]
    /// Names of captures that are secret, and not told.
    package var secrets: [String]?
    /// The ID was given out after this.
    package var handedOverAt: String
    package var droppedAt: String
    /// Until when it could be used; absent for ever.
    package var expiresAt: String?
    /// Why it will not be used: a stable word.
    package var reason: String
    /// What the server has under it may count.
    package var isInDoubt: Bool
    /// Whether the next run of its manifest releases it.
    package var isReleasedByNextRun: Bool
    /// Why it does not.
    package var hindrance: String?
    /// When a release was last tried in vain, and why.
    package var triedAt: String?
    package var failure: RecordedFailure?
  }
}

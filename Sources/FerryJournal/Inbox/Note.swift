import FerryPlan

/// What another process asks of whoever holds a session, or next takes it.
package struct Note: Hashable, Sendable {
  /// Raw values are written down; never reuse one.
  package enum Kind: String, CaseIterable, Sendable {
    /// Take these files of an upload into the queue.
    case submit = "submit"
    /// Cancel what is open.
    case cancel = "cancel"
    /// Finish what runs and take nothing new.
    case finish = "finish"
  }

  /// In the order in which notes were left, never used again; 0 before.
  package var id: Int64
  /// The session's identifier.
  package var session: String
  package var kind: Kind
  /// The manifest's name; `nil` means whatever the session carries.
  package var manifest: String?
  /// The upload's, fetch's or request's name; `nil` means all of them.
  package var node: String?
  /// Bytes relative to the upload's root, in the order in which they were given.
  package var paths: [[UInt8]]
  package var createdAt: Instant

  package init(
    id: Int64 = 0, session: String, kind: Kind, manifest: String? = nil, node: String? = nil,
    paths: [[UInt8]] = [], createdAt: Instant
  ) {
    self.id = id
    self.session = session
    self.kind = kind
    self.manifest = manifest
    self.node = node
    self.paths = paths
    self.createdAt = createdAt
  }
}

import FerryPlan

/// A request from another process to the current or next holder of a session.
package struct Note: Hashable, Sendable {
  /// The raw values are persisted and must never be reused.
  package enum Kind: String, CaseIterable, Sendable {
    /// Queue these files of an upload.
    case submit = "submit"
    /// Cancel open work.
    case cancel = "cancel"
    /// Finish the work in progress without starting anything new.
    case finish = "finish"
    /// Complete everything that was queued, without queueing anything new.
    case drain = "drain"
  }

  /// A submitted file.
  package struct File: Hashable, Sendable {
    /// The path's bytes, relative to the upload's root.
    package var path: [UInt8]
    /// The file's version at its submission; `nil` in notes of older schemas.
    package var version: Version?

    package init(path: [UInt8], version: Version? = nil) {
      self.path = path
      self.version = version
    }
  }

  /// The properties by which ferry recognizes a changed file.
  package struct Version: Hashable, Sendable {
    /// The size in bytes.
    package var size: Int64
    /// The modification time in nanoseconds since 1970.
    package var modified: Int64

    package init(size: Int64, modified: Int64) {
      self.size = size
      self.modified = modified
    }
  }

  /// The ID, which increases with each added note and is never reused; 0 before the note is stored.
  package var id: Int64
  /// The session's identifier.
  package var session: String
  package var kind: Kind
  /// The manifest's name; `nil` means every manifest of the session.
  package var manifest: String?
  /// The name of the upload, fetch or request; `nil` means all of them.
  package var node: String?
  /// The submitted files, in the order in which they were given.
  package var files: [File]
  /// The text of `ferry cancel --reason`.
  package var reason: CancelReason?
  package var createdAt: Instant

  package init(
    id: Int64 = 0, session: String, kind: Kind, manifest: String? = nil, node: String? = nil,
    files: [File] = [], reason: CancelReason? = nil, createdAt: Instant
  ) {
    self.id = id
    self.session = session
    self.kind = kind
    self.manifest = manifest
    self.node = node
    self.files = files
    self.reason = reason
    self.createdAt = createdAt
  }
}

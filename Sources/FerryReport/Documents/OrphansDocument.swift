import FerryPlan

/// Upload IDs that will not be used, as written by `ferry orphans --format json`. Its keys are an interface.
package struct OrphansDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// When the journals were read.
  package var at: String
  package var orphans: [Entry]
  /// Sessions whose journals cannot be read; absent if there are none.
  package var problems: [Problem]?

  package struct Problem: Encodable, Sendable {
    package var session: String
    /// Why the session's orphans are unknown.
    package var problem: String

    package init(session: String, problem: String) {
      self.session = session
      self.problem = problem
    }
  }

  package struct Entry: Encodable, Sendable {
    package var session: String
    /// The number within its session, as accepted by `--forget`.
    package var id: Int64
    package var manifest: String
    package var upload: String
    /// The scheme, host and port of the server that was asked for the ID; empty if only a capture determines them.
    package var origin: String
    /// The path of the file, relative to `root`.
    package var path: String
    /// The bytes of a name that is not UTF-8.
    package var pathBase64: String?
    /// By name, without secret captures.
    package var captures: [String: String]
    /// The names of secret captures, whose values are not shown.
    package var secrets: [String]?
    /// The server allocated the ID after this moment.
    package var handedOverAt: String
    package var droppedAt: String
    /// When the ID expires; absent if it does not.
    package var expiresAt: String?
    /// Why it will not be used: a stable word.
    package var reason: String
    /// Whether the data that the server has under the ID may count as delivered.
    package var isInDoubt: Bool
    /// Whether the next run of its manifest releases it.
    package var isReleasedByNextRun: Bool
    /// Why the next run does not release it.
    package var hindrance: String?
    /// When a release last failed, and why.
    package var triedAt: String?
    package var failure: RecordedFailure?

    package init(
      session: String, id: Int64, manifest: String, upload: String, origin: String, path: String,
      pathBase64: String? = nil, captures: [String: String], secrets: [String]? = nil, handedOverAt: String,
      droppedAt: String, expiresAt: String? = nil, reason: String, isInDoubt: Bool,
      isReleasedByNextRun: Bool, hindrance: String? = nil, triedAt: String? = nil,
      failure: RecordedFailure? = nil
    ) {
      self.session = session
      self.id = id
      self.manifest = manifest
      self.upload = upload
      self.origin = origin
      self.path = path
      self.pathBase64 = pathBase64
      self.captures = captures
      self.secrets = secrets
      self.handedOverAt = handedOverAt
      self.droppedAt = droppedAt
      self.expiresAt = expiresAt
      self.reason = reason
      self.isInDoubt = isInDoubt
      self.isReleasedByNextRun = isReleasedByNextRun
      self.hindrance = hindrance
      self.triedAt = triedAt
      self.failure = failure
    }
  }

  package init(state: String, at: String, orphans: [Entry], problems: [Problem]? = nil) {
    self.state = state
    self.at = at
    self.orphans = orphans
    self.problems = problems
  }
}

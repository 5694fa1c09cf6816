import FerryPlan

/// Unused upload IDs, as written by `ferry orphans --format json`. The JSON keys are a stable public
/// interface.
package struct OrphansDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// The time at which the journals were read.
  package var at: String
  package var orphans: [Entry]
  /// Sessions whose journals cannot be read; absent if there are none.
  package var problems: [Problem]?

  package struct Problem: Encodable, Sendable {
    package var session: String
    /// The reason why the session's orphans are unknown.
    package var problem: String

    package init(session: String, problem: String) {
      self.session = session
      self.problem = problem
    }
  }

  package struct Entry: Encodable, Sendable {
    package var session: String
    /// The orphan's number within the session, as accepted by `--forget`.
    package var id: Int64
    package var manifest: String
    package var upload: String
    /// The scheme, host and port of the server from which the ID was requested; empty if they are determined
    /// only by a capture.
    package var origin: String
    /// The path of the file, relative to `root`.
    package var path: String
    /// The bytes of a path that is not UTF-8.
    package var pathBase64: String?
    /// The captures by name, without secret ones.
    package var captures: [String: String]
    /// The names of secret captures, whose values are not shown.
    package var secrets: [String]?
    /// The time after which the server allocated the ID.
    package var handedOverAt: String
    package var droppedAt: String
    /// The time at which the ID expires; absent if it does not expire.
    package var expiresAt: String?
    /// The reason why the ID will not be used, as a stable word.
    package var reason: String
    /// Whether the server may treat the data under the ID as delivered.
    package var isInDoubt: Bool
    /// Whether the next run of the manifest releases the ID.
    package var isReleasedByNextRun: Bool
    /// The reason why the next run does not release the ID.
    package var hindrance: String?
    /// The time of the last failed release, and its reason.
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

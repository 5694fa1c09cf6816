import FerryManifest

extension RunRecord {
  package struct NodeRecord: Codable, Sendable {
    /// The name of the manifest; absent if the run has only one.
    package var manifest: String?
    package var name: String
    package var kind: Node.Kind
    /// `received` for a download batch; otherwise absent.
    package var direction: Node.Direction?
    package var session: String
    /// `succeeded`, `failed`, `ambiguous`, `cancelled`, `skipped`, `waiting` if the node remains for a later
    /// run, `not_selected`; `not_needed` for a token that was not fetched.
    package var state: ReportState
    package var reason: RecordedFailure?
    /// `true` if a failure of the node is only a warning; otherwise absent.
    package var optional: Bool?
    /// The names of the nodes for which the node waits; absent if there are none.
    package var needs: [String]?
    /// The token that the node's requests use; absent if they use no token.
    package var token: String?
    package var items: ItemCounts?
    /// For an upload: the reasons why its items were canceled, at most a hundred, each with the number of
    /// items; absent if no items were canceled.
    package var cancellations: [CancellationRecord]?
    /// Paths of an upload that could not be listed; absent if there are none.
    package var problems: [FileProblem]?
    /// The number of further problems; absent if there are none.
    package var problemsOmitted: Int?
    package var result: FetchResult?
    /// The time at which a fetch becomes due, if it is not due yet.
    package var notBefore: String?
    /// For a fetch with a minimum interval: the interval until the next fetch, counted from the last
    /// successful fetch.
    package var intervalSeconds: Double?
    /// The treatment of delivered files, if the manifest specifies an action for them.
    package var after: AfterRecord?
    /// For an upload: its unused upload IDs, if this run dropped, released or tried to release any.
    package var orphans: OrphanRecord?
    /// For downloads with `segments`: those that used a single connection because of their server; absent if there are
    /// none.
    package var singleConnection: SingleConnectionRecord?
    /// What this run did for the node; absent if the run sent no requests for the node, and in reports of
    /// earlier versions.
    package var work: WorkRecord?
    package var attempts: [AttemptRecord]
    /// The details of a request or fetch whose outcome is ambiguous.
    package var ambiguity: Ambiguity?

    /// Whether the node itself, and not only items of it, failed or is ambiguous.
    package var hasOwnFailure: Bool {
      (state == .failed || state == .ambiguous) && (!kind.hasItems || reason != nil)
    }

    /// Whether the node waits until other processes have run shards.
    package var waitsForShards: Bool { state == .waiting && reason?.code == .shards }

    /// Whether the node is optional and failed, or may have failed.
    package var isExcusedFailure: Bool { optional == true && (state == .failed || state == .ambiguous) }
  }

  /// A reason why items of an upload were canceled in the round.
  package struct CancellationRecord: Hashable, Codable, Sendable {
    /// A stable code.
    package var code: FailureCode
    package var message: String
    package var items: Int

    package init(code: FailureCode, message: String, items: Int) {
      self.code = code
      self.message = message
      self.items = items
    }
  }

  /// Downloads that were to use several connections but used only one.
  package struct SingleConnectionRecord: Hashable, Codable, Sendable {
    package var downloads: Int
    /// The reason for the last of them.
    package var reason: String
  }

  /// A path that could not be listed.
  package struct FileProblem: Codable, Sendable {
    /// The path, relative to the root, or as written in the list.
    package var path: String
    /// The bytes of the path in Base64, if the path is not valid UTF-8.
    package var pathBase64: String?
    /// A stable code.
    package var code: FailureCode
    package var message: String

    package init(path: [UInt8], code: FailureCode, message: String) {
      self.path = String(decoding: path, as: UTF8.self)
      pathBase64 = DisplayPath.base64(path)
      self.code = code
      self.message = message
    }
  }

  /// The numbers of an upload's orphans (unused upload IDs) that this run dropped, released, and could not
  /// release.
  package struct OrphanRecord: Codable, Sendable {
    /// The number of upload IDs that this run dropped without a commit.
    package var dropped: Int
    /// The number of upload IDs that this run released, including IDs that earlier runs allocated.
    package var released: Int
    /// The number of upload IDs that this run could not release: the attempt failed, or there was no attempt
    /// because the server had not responded to another release. The next run retries.
    package var failed: Int
    /// The reason why the last of the `failed` upload IDs was not released.
    package var reason: RecordedFailure?
  }

  /// The results of the `after` actions for an upload's delivered files in this run.
  package struct AfterRecord: Codable, Sendable {
    package var deleted: Int
    package var moved: Int
    /// The number of files that the next run deletes or moves, because this run was stopped; `nil` if there
    /// are none.
    package var remaining: Int?
    /// Files that were not deleted or moved as the manifest specifies, by path.
    package var problems: [AfterProblem]

    package init(deleted: Int, moved: Int, remaining: Int = 0, problems: [AfterProblem]) {
      self.deleted = deleted
      self.moved = moved
      self.remaining = remaining > 0 ? remaining : nil
      self.problems = problems
    }
  }

  /// A delivered file that was not deleted or moved.
  package struct AfterProblem: Codable, Sendable {
    package var path: String
    /// The bytes of the path in Base64, if the path is not valid UTF-8.
    package var pathBase64: String?
    /// A stable code.
    package var code: FailureCode
    package var message: String
    /// Whether the next run retries.
    package var isOwed: Bool

    package init(path: [UInt8], code: FailureCode, message: String, isOwed: Bool) {
      self.path = String(decoding: path, as: UTF8.self)
      pathBase64 = DisplayPath.base64(path)
      self.code = code
      self.message = message
      self.isOwed = isOwed
    }
  }
}

import FerryManifest

/// The dependency graph compiled from one manifest, or from the several manifests of one launch.
///
/// It is a value that can be printed, encoded, compared and hashed. An upload of a million files is one node.
package struct Plan: Hashable, Codable, Sendable {
  /// The names of the manifests, in the order of `ManifestID`, without duplicates.
  package var manifests: [String]
  package var sessions: [SessionPlan]
  /// The nodes in a possible start order: each node follows its dependencies.
  package var nodes: [Node]
  package var policies: Policies

  package init(manifest: String, sessions: [SessionPlan], nodes: [Node], policies: Policies = Policies()) {
    manifests = [manifest]
    self.sessions = sessions
    self.nodes = nodes
    self.policies = policies
  }

  /// The name of the only manifest.
  package var manifest: String {
    precondition(manifests.count == 1, "a plan for several manifests has several names")
    return manifests[0]
  }

  /// The manifest of a node. Names of nodes are unique only within their manifest.
  package func manifest(of node: NodeID) -> ManifestID { nodes[node.index].manifest }

  /// Whether a failure of the node is only a warning.
  package func isOptional(_ node: NodeID) -> Bool {
    if case .request(let work) = nodes[node.index].work { work.isOptional } else { false }
  }

  /// The node's name for users: `MANIFEST/NODE` if there is more than one manifest.
  package func title(of node: NodeID) -> String {
    let name = nodes[node.index].name
    return manifests.count == 1 ? name : "\(manifests[nodes[node.index].manifest.index])/\(name)"
  }
}

/// The settings that apply to all sessions of a plan.
package struct Policies: Hashable, Codable, Sendable {
  package var budgets: Budgets
  package var maxBandwidth: BandwidthLimit?
  package var resumeDelay: ResumeDelay
  package var executionWindow: ExecutionWindow
  package var forceQuit: ForceQuit

  package init(
    budgets: Budgets = Budgets(), resumeDelay: ResumeDelay = ResumeDelay(),
    executionWindow: ExecutionWindow = ExecutionWindow(), forceQuit: ForceQuit = .cancelTasks
  ) {
    self.budgets = budgets
    self.resumeDelay = resumeDelay
    self.executionWindow = executionWindow
    self.forceQuit = forceQuit
  }
}

/// The index of a manifest in a plan.
package struct ManifestID: Hashable, Codable, Sendable {
  package var index: Int
  package init(_ index: Int) { self.index = index }
}

package struct SessionID: Hashable, Codable, Sendable {
  package var index: Int
  package init(_ index: Int) { self.index = index }
}

package struct NodeID: Hashable, Codable, Sendable {
  package var index: Int
  package init(_ index: Int) { self.index = index }
}

/// A session of a plan. A new setting that all manifests of one launch must share has to be added to
/// `difference(from:)`, too (`PlanConflict.swift`).
package struct SessionPlan: Hashable, Codable, Sendable {
  /// The session's name; in a plan for several manifests, the identifier, because each manifest may use a
  /// different name for the session.
  package var name: String
  /// The name in the journal.
  package var identifier: String
  package var kind: Session.Kind
  package var maxConnectionsPerHost: Int
  package var timeoutForRequest: Duration
  package var timeoutForResource: Duration
  /// The session's header fields. If several manifests share the session, these are the fields of the first
  /// one; each request uses the fields of its manifest.
  package var headers: [RequestTemplate.Field]
  /// The handling of redirects. If several manifests share the session, see `headers`.
  package var redirects: RedirectRules
  package var discretionary: Session.Discretionary
  package var allowsCellular: Bool
  package var allowsExpensive: Bool
  /// The command to start when a batch of the session has completed; empty for no command.
  package var onEvents: [String]
  /// How requests are signed; `nil` for no signature. If several manifests share the session, see `headers`.
  package var sign: RequestSigning?
  /// The credentials for requests; `nil` for none. If several manifests share the session, see `headers`.
  package var auth: RequestAuth?
  /// How connections are made. If several manifests share the session, see `headers`.
  package var connection = ConnectionSettings()
  package var maxBandwidth: BandwidthLimit?
}

/// One node of the graph.
package struct Node: Hashable, Codable, Sendable {
  /// The name, which is unique within its manifest.
  package var name: String
  package var manifest = ManifestID(0)
  /// The session whose journal contains the node.
  package var session: SessionID
  /// The nodes that must end before this node starts: its `needs`, the fetch that writes its list, and the
  /// requests to which it or its token refers.
  package var needs: [NodeID]
  package var retry: RetryPolicy
  package var work: Work

  package enum Work: Hashable, Codable, Sendable {
    case token(TokenWork)
    case upload(UploadWork)
    case fetch(FetchWork)
    case request(RequestWork)
  }

  package var kind: Kind {
    switch work {
    case .token: .token
    case .upload(let work): work.download == nil ? .upload : .download
    case .fetch: .fetch
    case .request: .request
    }
  }

  package enum Kind: String, Codable, Sendable {
    case token, upload, download, fetch, request

    /// Whether nodes of this kind have items.
    package var hasItems: Bool {
      switch self {
      case .upload, .download: true
      case .token, .fetch, .request: false
      }
    }

    /// Whether nodes of this kind run once, before or after the shards of a manifest, rather than in each shard.
    package var runsOnce: Bool {
      switch self {
      case .fetch, .request: true
      case .token, .upload, .download: false
      }
    }

    /// The direction in which the content of the node's files is transferred; `nil` if the node has no files.
    package var direction: Direction? {
      switch self {
      case .upload: .sent
      case .download, .fetch: .received
      case .token, .request: nil
      }
    }
  }

  /// The direction of a transfer. The raw values are written to reports.
  package enum Direction: String, Codable, Sendable {
    case sent, received
  }

  /// The node's steps, in order.
  package var steps: [Step] {
    switch work {
    case .token(let work): [work.step]
    case .upload(let work):
      [work.allocate, work.transfer, work.commit, work.probe, work.abandon].compactMap { $0 }
    case .fetch(let work): [work.step]
    case .request(let work): [work.step]
    }
  }

  /// The same node, with each of its steps changed.
  func changingSteps(_ change: (Step) -> Step) -> Node {
    var node = self
    switch work {
    case .token(var work):
      work.step = change(work.step)
      node.work = .token(work)
    case .upload(var work):
      work.allocate = work.allocate.map(change)
      work.transfer = change(work.transfer)
      work.commit = work.commit.map(change)
      work.probe = work.probe.map(change)
      work.abandon = work.abandon.map(change)
      node.work = .upload(work)
    case .fetch(var work):
      work.step = change(work.step)
      node.work = .fetch(work)
    case .request(var work):
      work.step = change(work.step)
      node.work = .request(work)
    }
    return node
  }

  /// How the node's documents are stored; `nil` if it stores none.
  package var document: DocumentOptions? {
    switch work {
    case .fetch(let work): work.document
    case .upload(let work): work.download
    case .token, .request: nil
    }
  }

  /// The steps that complete the node: all steps except the release of upload IDs, for which nothing waits.
  package var deliverySteps: [Step] { steps.filter { $0.kind != .abandon } }

  /// The treatment of the node's files after delivery.
  package var after: Upload.After {
    switch work {
    case .upload(let work): work.after
    case .fetch, .request, .token: .keep
    }
  }

  /// Whether a delivered file is compared by content to decide whether to send it again.
  package var comparesContent: Bool {
    switch work {
    case .upload(let work): work.comparesContent
    case .fetch, .request, .token: false
    }
  }
}

package struct TokenWork: Hashable, Codable, Sendable {
  package var step: Step
  package var apply: TokenApplication
  /// Origins to which the token may be sent, in addition to the origins of the manifest's own URLs.
  package var applyOrigins: [OriginPattern]
  package var refresh: TokenStep.Refresh
}

/// A batch of items: an upload, or a download batch, whose only step is `transfer`.
package struct UploadWork: Hashable, Codable, Sendable {
  package var files: FileSelection
  package var deliver: Upload.Deliver
  package var compare: Upload.Compare
  package var priority: Double
  package var batch: Upload.Batch
  package var allocate: Step?
  /// How long an upload ID is valid; `nil` means no limit.
  package var validFor: Duration?
  package var transfer: Step
  package var transferProtocol = TransferProtocol.whole
  package var commit: Step?
  /// The request that checks whether a commit with a lost response was executed.
  package var probe: Step?
  /// The request that releases an unused upload ID.
  package var abandon: Step?
  /// The treatment of a file after delivery.
  package var after: Upload.After
  /// Whether the report lists every item, not only those that did not succeed on the first attempt.
  package var reportsEveryItem = false
  /// How the documents of a download batch are stored; `nil` for an upload.
  package var download: DocumentOptions?

  package var first: Step { allocate ?? transfer }

  /// Whether the upload's items can have upload IDs: `allocate` requests them, or the server assigns upload
  /// resources.
  package var hasUploadIDs: Bool { allocate != nil || transferProtocol.machine?.assignsResource == true }

  /// Whether the upload ID of a file is still needed once the server has the whole file.
  package var keepsUploadID: Bool {
    allocate != nil || transferProtocol.machine?.commitNamesResources == true
  }

  /// The file that lists the batch's files; `nil` if the manifest, globs or standard input select them.
  package var listFile: String? {
    switch files.source {
    case .list(let name, _): name == "-" ? nil : name
    case .items(let items):
      switch items.source {
      case .file(let name, _): name
      case .written, .fetch: nil
      }
    case .globs: nil
    }
  }

  /// Whether a delivered file is compared by content to decide whether to send it again.
  package var comparesContent: Bool { deliver == .whenChanged && compare == .content }
}

package struct FetchWork: Hashable, Codable, Sendable {
  package var step: Step
  package var interval: Fetch.Interval
  /// Whether a document that the fetch stored earlier may be used instead of a request.
  package var cachePolicy = Session.CachePolicy.useProtocol
  /// The path of the file, relative to the manifest's folder.
  package var saveTo: String
  package var document = DocumentOptions()
}

/// How the document in a response is stored in a file.
package struct DocumentOptions: Hashable, Codable, Sendable {
  /// The maximum number of bytes that are stored; `nil` if there is no limit.
  package var maxSize: Int64?
  /// Whether the file gets the modification time that the server states.
  package var keepsModified = false
  /// The number of ranges of a file that may be downloaded at once, each over its own connection.
  package var segments = 1
  /// The smallest range in bytes that is requested on its own. The response to a smaller one would take little more time
  /// than its request.
  package static let leastRange: Int64 = 8 << 20

  package init(maxSize: Int64? = nil, keepsModified: Bool = false, segments: Int = 1) {
    self.maxSize = maxSize
    self.keepsModified = keepsModified
    self.segments = segments
  }

  /// The number of connections that a download can use.
  ///
  /// - Parameter size: the size of the document in bytes; `nil` if it is not known.
  package func connections(for size: Int64?) -> Int {
    guard let size else { return segments }
    let ranges = max(0, size - 1) / Self.leastRange + 1
    return min(segments, Int(clamping: ranges))
  }
}

package struct RequestWork: Hashable, Codable, Sendable {
  package var step: Step
  package var when: SingleRequest.When
  /// Whether the launch and the nodes that need the request continue after a failure as if the request had
  /// succeeded.
  package var isOptional = false
}

/// One request of a node, as it will be sent.
package struct Step: Hashable, Codable, Sendable {
  package var kind: Kind
  /// The session whose connections the step uses.
  package var session: SessionID
  package var token: NodeID?
  @Shared package var request: RequestTemplate
  @Shared package var expect: Expectation
  package var capture: [Capture]
  /// The statuses that indicate that a commit has already been executed.
  package var alreadyDone: [Int]
  package var repeatability: Repeatability
  /// The statuses that, according to the manifest, the server sends only if it has not executed the step.
  package var notExecuted: [Int] = []
  /// The statuses after which a new upload ID is allocated, in addition to the statuses that always have this effect.
  package var renewOn: [Int] = []
  /// The origin of the step's URL, if it is known before the run.
  package var origin: Origin?
  /// The header field that identifies a repeated commit or single request to the server.
  package var idempotencyHeader: String?
  /// The raw values are written to reports.
  package enum Kind: String, Codable, Sendable {
    case token, allocate, transfer, commit, probe, fetch, request, abandon
    /// The request for an item of a download batch.
    case download

    /// Whether the document in the response is stored in a file.
    package var storesDocument: Bool {
      switch self {
      case .fetch, .download: true
      case .token, .allocate, .transfer, .commit, .probe, .request, .abandon: false
      }
    }

    /// Whether the step transfers the file of an item.
    package var transfersItem: Bool {
      switch self {
      case .transfer, .download: true
      case .token, .allocate, .commit, .probe, .fetch, .request, .abandon: false
      }
    }
  }

  /// The handling of a step whose response was lost.
  package enum Repeatability: String, Codable, Sendable {
    /// The step is sent again.
    case repeatable
    /// The upload ID may now hold part of a file: a new ID is allocated and the file starts over. Nothing
    /// takes effect before the commit, so no effect is repeated.
    case startsOver = "starts_over"
    /// The step is sent again after the probe has shown that it was not executed.
    case afterProbe = "after_probe"
    /// The step is never sent again. Its intent is synced before it is sent.
    case once
  }

  /// The header field without which the server would not recognize a repeated commit; `nil` if a repetition is
  /// harmless or recognized without it, or if the commit is not repeated.
  var necessaryKeyHeader: String? {
    guard kind == .commit, repeatability == .repeatable, alreadyDone.isEmpty, !request.isIdempotent else {
      return nil
    }
    return idempotencyHeader
  }
}

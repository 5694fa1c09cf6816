import FerryManifest

/// The dependency graph that a manifest compiles into, or several manifests of one launch: a value that can be
/// printed, encoded, compared and hashed. An upload of a million files is one node.
package struct Plan: Hashable, Codable, Sendable {
  /// Their names, in the order of `ManifestID`; no name twice.
  package var manifests: [String]
  package var sessions: [SessionPlan]
  /// In an order in which they may start: whatever a node waits for stands before it.
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
    precondition(manifests.count == 1, "a plan of several manifests has several names")
    return manifests[0]
  }

  /// Names of nodes are their manifest's own.
  package func manifest(of node: NodeID) -> ManifestID { nodes[node.index].manifest }

  /// The node for people: `MANIFEST/NODE` where there are several manifests.
  package func title(of node: NodeID) -> String {
    let name = nodes[node.index].name
    return manifests.count == 1 ? name : "\(manifests[nodes[node.index].manifest.index])/\(name)"
  }
}

/// What holds for all sessions of a plan.
package struct Policies: Hashable, Codable, Sendable {
  package var budgets: Budgets
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

/// The place of a manifest among those of a plan.
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

/// A setting that is added here must agree between the manifests of one launch (`Plan+Combining.swift`).
package struct SessionPlan: Hashable, Codable, Sendable {
  /// In a plan of several manifests its identifier: each of them may have another name for it.
  package var name: String
  /// The journal's name.
  package var identifier: String
  package var kind: Session.Kind
  package var maxConnectionsPerHost: Int
  package var timeoutForRequest: Duration
  package var timeoutForResource: Duration
  /// Of a session that several manifests share those of the first; requests carry their own manifest's.
  package var headers: [RequestTemplate.Field]
  /// Likewise.
  package var redirects: RedirectRules
  package var discretionary: Session.Discretionary
  package var allowsCellular: Bool
  package var allowsExpensive: Bool
  /// Started when a batch of the session is through; empty for none.
  package var onEvents: [String]
}

/// One node of the graph.
package struct Node: Hashable, Codable, Sendable {
  /// Unique within its manifest.
  package var name: String
  package var manifest = ManifestID(0)
  /// The session whose journal it lives in.
  package var session: SessionID
  /// What must be closed before it starts: `needs`, and the requests it refers to.
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
    case .upload: .upload
    case .fetch: .fetch
    case .request: .request
    }
  }

  package enum Kind: String, Codable, Sendable {
    case token, upload, fetch, request
  }

  /// Its steps in order.
  package var steps: [Step] {
    switch work {
    case .token(let work): [work.step]
    case .upload(let work):
      [work.allocate, work.transfer, work.commit, work.probe, work.abandon].compactMap { $0 }
    case .fetch(let work): [work.step]
    case .request(let work): [work.step]
    }
  }

  /// Those that bring it to its end: all but the release of upload IDs, which nothing waits for.
  package var deliverySteps: [Step] { steps.filter { $0.kind != .abandon } }

  /// What becomes of its files once they are delivered.
  package var after: Upload.After {
    switch work {
    case .upload(let work): work.after
    case .fetch, .request, .token: .keep
    }
  }

  /// Whether what a delivered file holds decides if it is sent again.
  package var comparesContent: Bool {
    switch work {
    case .upload(let work): work.comparesContent
    case .fetch, .request, .token: false
    }
  }
}

package struct TokenWork: Hashable, Codable, Sendable {
  package var step: Step
  package var apply: RequestTemplate.Field
  /// Origins that it is sent to besides those of the manifest's own URLs.
  package var applyOrigins: [OriginPattern]
  package var refresh: TokenStep.Refresh
}

package struct UploadWork: Hashable, Codable, Sendable {
  package var files: FileSelection
  package var deliver: Upload.Deliver
  package var compare: Upload.Compare
  package var priority: Double
  package var batch: Upload.Batch
  package var allocate: Step?
  /// How long an upload ID may be used; `nil` for ever.
  package var validFor: Duration?
  package var transfer: Step
  package var commit: Step?
  /// Asks whether a commit was carried out whose answer was lost.
  package var probe: Step?
  /// Releases an upload ID that will not be used.
  package var abandon: Step?
  /// What becomes of a file once it is delivered.
  package var after: Upload.After

  package var first: Step { allocate ?? transfer }

  /// Whether what a delivered file holds decides if it is sent again.
  package var comparesContent: Bool { deliver == .whenChanged && compare == .content }
}

package struct FetchWork: Hashable, Codable, Sendable {
  package var step: Step
  package var interval: Fetch.Interval
  /// Relative to the manifest's folder.
  package var saveTo: String
  /// The most bytes that are stored; `nil` for no bound.
  package var maxSize: Int64?
}

package struct RequestWork: Hashable, Codable, Sendable {
  package var step: Step
  package var when: SingleRequest.When
}

/// One request of a node, as it will be sent.
package struct Step: Hashable, Codable, Sendable {
  package var kind: Kind
  /// Whose connections it uses.
  package var session: SessionID
  package var token: NodeID?
  package var request: RequestTemplate
  package var expect: Expectation
  package var capture: [Capture]
  /// The statuses that say a commit was carried out before.
  package var alreadyDone: [Int]
  package var repeatability: Repeatability
  /// Where it goes, where that is known beforehand.
  package var origin: Origin?
  /// The header field by which the server knows a repeated commit.
  package var idempotencyHeader: String?
  /// Raw values are written into reports.
  package enum Kind: String, Codable, Sendable {
    case token, allocate, transfer, commit, probe, fetch, request, abandon

    package var itemStep: ItemStep? {
      switch self {
      case .allocate: .allocate
      case .transfer: .transfer
      case .commit: .commit
      case .token, .probe, .fetch, .request, .abandon: nil
      }
    }
  }

  /// What may be done when its answer was lost.
  package enum Repeatability: String, Codable, Sendable {
    /// It is sent again.
    case repeatable
    /// The same upload ID may hold half a file now: a new ID is allocated and the file starts over.
    /// Nothing counts before the commit, so this repeats nothing.
    case startsOver = "starts_over"
    /// It is sent again once the probe has told that it was not carried out.
    case afterProbe = "after_probe"
    /// It is never sent again: its intent is synced before it is sent.
    case once
  }
}

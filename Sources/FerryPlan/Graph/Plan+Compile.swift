import FerryManifest

extension Plan {
  /// Compiles a manifest that the reader has validated: its names resolve and it has no cycle.
  package init(_ manifest: Manifest) {
    var compiler = PlanCompiler(manifest)
    self = compiler.compile()
  }
}

/// Resolves names to indices in the plan.
private struct PlanCompiler {
  let manifest: Manifest
  let sessions: [String: SessionID]
  var tokens: [String: NodeID] = [:]
  var named: [String: NodeID] = [:]

  init(_ manifest: Manifest) {
    self.manifest = manifest
    sessions = Dictionary(
      uniqueKeysWithValues: manifest.sessions.enumerated().map { ($1.name.value, SessionID($0)) })
  }

  mutating func compile() -> Plan {
    var nodes: [Node] = []
    for token in manifest.tokens {
      tokens[token.name.value] = NodeID(nodes.count)
      nodes.append(node(token))
    }
    for declared in order() {
      named[declared.name] = NodeID(nodes.count)
      switch declared {
      case .upload(let upload): nodes.append(node(upload))
      case .download(let download): nodes.append(node(download))
      case .fetch(let fetch): nodes.append(node(fetch))
      case .request(let request): nodes.append(node(request))
      }
    }
    var policies = Policies(
      budgets: manifest.budgets, resumeDelay: manifest.resumeDelay,
      executionWindow: manifest.executionWindow, forceQuit: manifest.forceQuit)
    policies.maxBandwidth = manifest.maxBandwidth
    return Plan(
      manifest: manifest.name.value, sessions: manifest.sessions.map(session), nodes: nodes,
      policies: policies)
  }

  private enum Declared {
    case upload(Upload)
    case download(Download)
    case fetch(Fetch)
    case request(SingleRequest)

    var name: String {
      switch self {
      case .upload(let upload): upload.name.value
      case .download(let download): download.name.value
      case .fetch(let fetch): fetch.name.value
      case .request(let request): request.name.value
      }
    }

    var needs: [Located<String>] {
      switch self {
      case .upload(let upload): upload.needs
      case .download(let download): download.needs
      case .fetch(let fetch): fetch.needs
      case .request(let request): request.needs
      }
    }

    var token: Located<String>? {
      switch self {
      case .upload(let upload): upload.token
      case .download(let download): download.token
      case .fetch(let fetch): fetch.token
      case .request(let request): request.token
      }
    }

    var references: [Reference] {
      switch self {
      case .upload(let upload): upload.references
      case .download(let download): download.itemRequest.references
      case .fetch(let fetch): fetch.request.references
      case .request(let request): request.request.references
      }
    }
  }

  /// The names of the nodes that a node waits for: its needs, the fetch that writes its list, and the
  /// requests to which it or its token refers.
  private func waitsFor(_ declared: Declared) -> [String] {
    var names = declared.needs.map(\.value)
    if case .download(let download) = declared, case .fetch(let name, _) = download.items.source,
      !names.contains(name)
    {
      names.append(name)
    }
    let token = manifest.tokens.first { $0.name.value == declared.token?.value }
    let references =
      declared.references + (token.map { $0.request.references + $0.apply.value.references } ?? [])
    for case .request(let name, _) in references where !names.contains(name) { names.append(name) }
    return names
  }

  /// The nodes in an order in which each node follows its dependencies. Otherwise, uploads come first, then
  /// downloads, fetches and requests, each in the order of declaration.
  private func order() -> [Declared] {
    let declared =
      manifest.uploads.map(Declared.upload) + manifest.downloads.map(Declared.download)
      + manifest.fetches.map(Declared.fetch)
      + manifest.requests.map(Declared.request)
    let places = Dictionary(uniqueKeysWithValues: declared.enumerated().map { ($1.name, $0) })
    var ordered: [Declared] = []
    var isPlaced = [Bool](repeating: false, count: declared.count)
    // An explicit stack instead of recursion: a chain of needs may be long.
    for start in declared.indices {
      var stack = [start]
      while let top = stack.last {
        if isPlaced[top] {
          stack.removeLast()
          continue
        }
        let missing = waitsFor(declared[top]).compactMap { places[$0] }.filter { !isPlaced[$0] }
        if missing.isEmpty {
          isPlaced[top] = true
          ordered.append(declared[top])
          stack.removeLast()
        } else {
          precondition(stack.count <= declared.count, "the reader rejects cycles")
          stack.append(missing[0])
        }
      }
    }
    return ordered
  }

  private func session(_ session: Session) -> SessionPlan {
    SessionPlan(
      name: session.name.value,
      identifier: session.identifier ?? "\(manifest.name.value).\(session.name.value)",
      kind: session.kind, maxConnectionsPerHost: session.maxConnectionsPerHost,
      timeoutForRequest: session.timeoutForRequest, timeoutForResource: session.timeoutForResource,
      headers: session.headers, redirects: session.redirects, discretionary: session.effectiveDiscretion,
      allowsCellular: session.allowsCellular, allowsExpensive: session.allowsExpensive,
      onEvents: session.onEvents, sign: session.sign, auth: session.auth, connection: session.connection,
      maxBandwidth: session.maxBandwidth)
  }

  private func id(_ session: Located<String>) -> SessionID {
    guard let id = sessions[session.value] else { preconditionFailure("the reader resolves sessions") }
    return id
  }

  private func id(token: Located<String>?) -> NodeID? {
    token.flatMap { tokens[$0.value] }
  }

  private func needs(_ declared: Declared) -> [NodeID] { waitsFor(declared).compactMap { named[$0] } }

  private func node(_ token: TokenStep) -> Node {
    let step = Step(
      kind: .token, session: id(token.session), token: nil, request: token.request, expect: token.expect,
      capture: token.capture, alreadyDone: [],
      // If a token is requested twice, the server issues two tokens, and one of them is used.
      repeatability: .repeatable, origin: Origin(token.request.url))
    return Node(
      name: token.name.value, session: step.session, needs: [], retry: token.retry,
      work: .token(
        TokenWork(
          step: step, apply: token.apply, applyOrigins: token.applyOrigins, refresh: token.refresh)))
  }

  private func node(_ declared: Upload) -> Node {
    let upload = declared.withProtocolSteps
    let own = id(upload.session)
    let token = id(token: upload.token)
    func step(
      _ kind: Step.Kind, _ session: Located<String>?, _ stepToken: Upload.StepToken,
      _ request: RequestTemplate,
      _ expect: Expectation, _ capture: [Capture], _ alreadyDone: [Int], _ repeatability: Step.Repeatability
    ) -> Step {
      Step(
        kind: kind, session: session.map(id) ?? own, token: stepToken == .none ? nil : token,
        request: request,
        expect: expect, capture: capture, alreadyDone: alreadyDone, repeatability: repeatability,
        origin: Origin(request.url))
    }
    let allocate = upload.allocate.map {
      // If an upload ID is requested twice, the server issues two IDs, and one of them is used.
      step(.allocate, $0.session, $0.token, $0.request, $0.expect, $0.capture, [], .repeatable)
    }
    let transferProtocol = TransferProtocol(upload.transfer)
    let transferRepeats: Step.Repeatability =
      if upload.transfer.request.isIdempotent
        || transferProtocol.machine?.repeatsCreation ?? false
      {
        .repeatable
      } else if upload.allocate != nil, upload.commit != nil {
        .startsOver
      } else {
        .once
      }
    var transfer = step(
      .transfer, nil, upload.transfer.token, upload.transfer.request, upload.transfer.expect,
      upload.transfer.capture, [], transferRepeats)
    let renewOn = upload.allocate?.renewOn ?? []
    transfer.renewOn = renewOn
    transfer.notExecuted = upload.retry.notExecuted
    let commit = upload.commit.map {
      var commit = step(
        .commit, $0.session, $0.token, $0.request, $0.expect, [], $0.alreadyDone ?? [], $0.repeatability)
      commit.idempotencyHeader = $0.idempotencyHeader
      commit.renewOn = renewOn
      commit.notExecuted = upload.retry.notExecuted
      return commit
    }
    let probe = upload.commit.flatMap { commit in
      // A probe may be repeated, regardless of its method.
      commit.probe.map {
        step(.probe, commit.session, commit.token, $0.request, $0.expect, [], [], .repeatable)
      }
    }
    let abandon = upload.abandon.map {
      // Releasing an ID twice has the same effect as releasing it once, regardless of the method.
      step(.abandon, $0.session, $0.token, $0.request, $0.expect, [], [], .repeatable)
    }
    return Node(
      name: upload.name.value, session: own, needs: needs(.upload(upload)),
      retry: upload.retry,
      work: .upload(
        UploadWork(
          files: upload.files, deliver: upload.deliver, compare: upload.compare, priority: upload.priority,
          batch: upload.batch,
          allocate: allocate, validFor: upload.allocate?.validFor, transfer: transfer,
          transferProtocol: transferProtocol, commit: commit, probe: probe, abandon: abandon,
          after: upload.after, reportsEveryItem: manifest.report.items == .all)))
  }

  private func cachePolicy(of session: Located<String>) -> Session.CachePolicy {
    manifest.sessions[id(session).index].cachePolicy
  }

  private func node(_ fetch: Fetch) -> Node {
    var step = Step(
      kind: .fetch, session: id(fetch.session), token: id(token: fetch.token), request: fetch.request,
      expect: fetch.expect, capture: [], alreadyDone: [],
      repeatability: fetch.request.isIdempotent ? .repeatable : .once, origin: Origin(fetch.request.url))
    step.notExecuted = fetch.retry.notExecuted
    return Node(
      name: fetch.name.value, session: step.session, needs: needs(.fetch(fetch)),
      retry: fetch.retry,
      work: .fetch(
        FetchWork(
          step: step, interval: fetch.interval, cachePolicy: cachePolicy(of: fetch.session),
          saveTo: fetch.saveTo,
          document: DocumentOptions(
            maxSize: fetch.maxSize, keepsModified: fetch.keepsModified, segments: fetch.segments))))
  }

  private func node(_ download: Download) -> Node {
    let request = download.itemRequest
    let step = Step(
      kind: .download, session: id(download.session), token: id(token: download.token), request: request,
      expect: download.expect, capture: [], alreadyDone: [], repeatability: .repeatable,
      origin: Origin(request.url))
    var items = download.items
    if case .fetch(let name, let json) = items.source,
      let fetch = manifest.fetches.first(where: { $0.name.value == name })
    {
      items.source = .file(fetch.saveTo, json: json)
    }
    return Node(
      name: download.name.value, session: step.session, needs: needs(.download(download)),
      retry: download.retry,
      work: .upload(
        UploadWork(
          files: FileSelection(root: ".", source: .items(items)), deliver: download.deliver,
          compare: .modification, priority: download.priority, batch: download.batch, transfer: step,
          after: .keep, reportsEveryItem: manifest.report.items == .all,
          download: DocumentOptions(
            maxSize: download.maxSize, keepsModified: download.keepsModified, segments: download.segments))))
  }

  private func node(_ request: SingleRequest) -> Node {
    var step = Step(
      kind: .request, session: id(request.session), token: id(token: request.token), request: request.request,
      expect: request.expect, capture: request.capture, alreadyDone: [],
      repeatability: request.isRepeated ? .repeatable : .once, origin: Origin(request.request.url))
    step.idempotencyHeader = request.idempotencyHeader
    step.notExecuted = request.retry.notExecuted
    return Node(
      name: request.name.value, session: step.session,
      needs: needs(.request(request)),
      retry: request.retry,
      work: .request(RequestWork(step: step, when: request.when, isOptional: request.isOptional)))
  }
}

extension Upload.Commit {
  /// The handling of a lost response that the commit's keys allow. If a probe is configured, it is sent
  /// first.
  fileprivate var repeatability: Step.Repeatability {
    if probe != nil { return .afterProbe }
    return alreadyDone != nil || idempotencyHeader != nil || request.isIdempotent ? .repeatable : .once
  }
}

extension Upload {
  /// All references in the upload's steps.
  var references: [Reference] {
    (allocate?.request.references ?? []) + transfer.request.references + (commit?.request.references ?? [])
      + (commit?.probe?.request.references ?? []) + (abandon?.request.references ?? [])
  }
}

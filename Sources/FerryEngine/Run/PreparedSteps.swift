import FerryManifest
import FerryPlan
import FerryTransfer

/// The steps of a job's nodes, with everything that does not depend on the attempt prepared once.
struct PreparedSteps {
  /// The steps of each node, by node.
  private let steps: [[PreparedStep]]

  /// - Parameters:
  ///   - secrets: by manifest.
  ///   - connections: by manifest.
  init(_ jobs: Jobs, secrets: [[String: SensitiveValue]], connections: [SessionConnections]) {
    let origins = jobs.all.enumerated().map { ManifestOrigins($1.plan, secrets: secrets[$0]) }
    steps = jobs.plan.nodes.enumerated().map { index, node in
      let own = (node: jobs.own(NodeID(index)), plan: jobs.job(of: NodeID(index)).plan)
      let ownOrigins = origins[node.manifest.index]
      let refersToDigest = node.steps.map { $0.request.references.contains(.file(.sha256)) }
      let comparesContent = node.comparesContent
      let transferProtocol: TransferProtocol =
        if case .upload(let work) = node.work { work.transferProtocol } else { .whole }
      let numbered: S3Multipart? =
        if case .s3Multipart(let machine) = transferProtocol { machine } else { nil }
      return node.steps.enumerated().map { position, step in
        let keepsDigest =
          step.kind == .transfer && (comparesContent || refersToDigest[(position + 1)...].contains(true))
        return PreparedStep(
          step: step,
          builder: Self.builder(
            own.node.steps[position], of: jobs.ownIndex(NodeID(index)), in: own.plan, ownOrigins,
            netrcs: connections[node.manifest.index].netrcs),
          redirects: .init(
            own.plan.sessions[own.node.steps[position].session.index].redirects,
            known: ownOrigins.known(to: own.node.steps[position], of: jobs.ownIndex(NodeID(index))).request),
          connection: connections[node.manifest.index].options[
            own.plan.sessions[own.node.steps[position].session.index].connection] ?? .plain,
          idleTimeout: jobs.plan.sessions[step.session.index].timeoutForRequest,
          limits: connections[node.manifest.index].limits[
            own.plan.sessions[own.node.steps[position].session.index].identifier] ?? [],
          patterns: Patterns(step.capture, step.expect),
          isSentOnce: Self.isSentOnce(step, of: node),
          needsDigest: refersToDigest[position], apply: Self.apply(node),
          hashesAsSent: keepsDigest && transferProtocol == .whole,
          hashesBeforeSending: keepsDigest && transferProtocol != .whole,
          transferProtocol: step.kind == .transfer ? transferProtocol : .whole,
          recordedParts: step.kind == .allocate ? numbered : nil,
          readsUploadExpires: transferProtocol.name == .tus && [.allocate, .transfer].contains(step.kind),
          laterOrigins: node.steps[(position + 1)...].filter { $0.origin == nil }.map {
            // The capture at the beginning of the URL determines the host.
            let start = Template(Array($0.request.url.segments.prefix(1)))
            return .init(kind: $0.kind, builder: RequestBuilder(RequestTemplate(url: start)))
          },
          serverBase: ServerBase(step, in: jobs.plan), isFirst: position == 0,
          boundSteps: position == 0 && node.kind == .upload
            ? node.steps.dropFirst().compactMap { ServerBase($0, in: jobs.plan) } : [])
      }
    }
  }

  /// Returns the builder for the requests of a step.
  ///
  /// - Parameter plan: the plan of the step's own manifest. Its sessions have that manifest's header fields.
  private static func builder(
    _ step: Step, of node: Int, in plan: Plan, _ origins: ManifestOrigins, netrcs: [String: Netrc]
  ) -> RequestBuilder {
    let apply: TokenApplication? =
      if let token = step.token, case .token(let work) = plan.nodes[token.index].work { work.apply } else {
        nil
      }
    return RequestBuilder(
      step.request, sessionHeaders: plan.sessions[step.session.index].headers, apply: apply,
      sessionSign: plan.sessions[step.session.index].sign,
      sessionAuth: plan.sessions[step.session.index].auth, netrcs: netrcs,
      isURLCaptured: origins.isCaptured(step), known: origins.known(to: step, of: node))
  }

  /// Whether libcurl must not resend the request automatically if its connection closes before a response.
  ///
  /// The scheduler must handle this case if the server may refuse the second request because it has executed the first:
  /// for a commit, and for a transfer without a commit, because a refusal would release the upload ID. The release of
  /// an upload ID must not be repeated after the server has issued the ID again, and libcurl cannot know whether it
  /// has.
  private static func isSentOnce(_ step: Step, of node: Node) -> Bool {
    if step.repeatability != .repeatable || [.commit, .abandon].contains(step.kind) { return true }
    guard step.kind == .transfer, case .upload(let work) = node.work else { return false }
    return work.commit == nil && work.abandon != nil
  }

  /// How requests carry the node's token; `nil` for a node that is not a token.
  private static func apply(_ node: Node) -> TokenApplication? {
    if case .token(let work) = node.work { work.apply } else { nil }
  }

  /// The step of an attempt.
  subscript(attempt: Attempt) -> PreparedStep {
    let node = attempt.ref.node.index
    // By index, because a search over the steps would retain each of them.
    guard let index = steps[node].indices.first(where: { steps[node][$0].kind == attempt.step }) else {
      preconditionFailure("an attempt refers to a step of its node")
    }
    return steps[node][index]
  }
}

/// A step, with everything that does not depend on the attempt prepared once.
///
/// This is a class, because a struct of this size would be copied several times per attempt.
///
/// Properties of the step that each request needs are stored separately, because each use of `step` copies it.
final class PreparedStep {
  let step: Step
  let kind: Step.Kind
  /// The token node of the step; `nil` if its request has no token.
  let token: NodeID?
  /// The grant of a request for an OAuth 2.0 token; `nil` for other requests.
  let grant: OAuth2Grant?
  /// Whether the body of a response in memory is needed.
  let needsBody: Bool
  /// Whether anything in a response except its status and its standard fields matters.
  let readsResponse: Bool
  /// Whether the step expects any 2xx status.
  private let expectsSuccess: Bool
  /// Whether the content codings of a response are removed.
  let decodes: Bool
  let builder: RequestBuilder
  let redirects: TransferRequest.Redirects
  let connection: ConnectionOptions
  /// The session's `timeout_for_request`.
  let idleTimeout: Duration
  /// The bandwidth limits of the step's session and of the run.
  let limits: [TransferLimit]
  /// The regular expressions of `expect` and `capture`.
  let patterns: Patterns
  /// Whether libcurl must not resend the request automatically.
  let isSentOnce: Bool
  /// Whether the request needs the file's digest before it is sent.
  let needsDigest: Bool
  /// How other requests carry the token that the step requests; `nil` for other steps.
  let apply: TokenApplication?
  /// Whether the file is hashed while it is sent.
  let hashesAsSent: Bool
  /// Whether the file is hashed before its first part is sent, because no request sends the whole file.
  let hashesBeforeSending: Bool
  /// How a transfer sends its file; `whole` for other steps.
  let transferProtocol: TransferProtocol
  /// The numbered parts whose size is recorded with the upload ID that the step requests; `nil` for other steps and
  /// protocols.
  let recordedParts: S3Multipart?
  /// Whether the response can state when the upload expires, as tus responses can.
  let readsUploadExpires: Bool
  /// The item's later steps whose hosts are determined only by captures.
  let laterOrigins: [LaterOrigin]

  /// The beginning of the step's URL, if captures of tokens or requests determine the server.
  let serverBase: ServerBase?
  /// Whether this is the first step of its node.
  let isFirst: Bool
  /// If this is the first step of an upload: the later steps whose servers are determined by captures of tokens or
  /// requests. The request of the first step fixes all of these servers.
  let boundSteps: [ServerBase]

  struct LaterOrigin {
    var kind: Step.Kind
    var builder: RequestBuilder
  }

  init(
    step: Step, builder: RequestBuilder, redirects: TransferRequest.Redirects, connection: ConnectionOptions,
    idleTimeout: Duration, limits: [TransferLimit], patterns: Patterns, isSentOnce: Bool,
    needsDigest: Bool, apply: TokenApplication?, hashesAsSent: Bool, hashesBeforeSending: Bool,
    transferProtocol: TransferProtocol,
    recordedParts: S3Multipart?, readsUploadExpires: Bool, laterOrigins: [LaterOrigin],
    serverBase: ServerBase?, isFirst: Bool,
    boundSteps: [ServerBase]
  ) {
    self.serverBase = serverBase
    self.isFirst = isFirst
    self.boundSteps = boundSteps
    self.step = step
    kind = step.kind
    token = step.token
    grant = if case .oauth2(let grant) = step.request.body { grant } else { nil }
    needsBody = !step.capture.isEmpty || step.expect.readsAnswer
    readsResponse =
      needsBody || step.expect.hasETagOfParts || step.expect.hasLocation || step.kind.storesDocument
    expectsSuccess = step.expect.status.isEmpty && !step.kind.storesDocument
    decodes = step.request.decompress
    self.builder = builder
    self.redirects = redirects
    self.connection = connection
    self.idleTimeout = idleTimeout
    self.limits = limits
    self.patterns = patterns
    self.isSentOnce = isSentOnce
    self.needsDigest = needsDigest
    self.apply = apply
    self.hashesAsSent = hashesAsSent
    self.hashesBeforeSending = hashesBeforeSending
    self.transferProtocol = transferProtocol
    self.recordedParts = recordedParts
    self.readsUploadExpires = readsUploadExpires
    self.laterOrigins = laterOrigins
  }

  /// Whether the step requests a token that other requests carry in `Authorization: Bearer`.
  var needsBearer: Bool {
    guard let apply, apply.header?.lowercased() == "authorization",
      case .literal(let text)? = apply.value.segments.first
    else { return false }
    return text.lowercased().hasPrefix("bearer ")
  }

  /// Whether the URL alone identifies the upload that `allocate` has created.
  var isURLOfUpload: Bool {
    func isOfAllocation(_ template: Template) -> Bool {
      template.references.contains { if case .allocate = $0 { true } else { false } }
    }
    return isOfAllocation(step.request.url) && !step.request.headers.contains { isOfAllocation($0.value) }
  }

  /// Whether the response states the URL of the upload that the request creates, as tus responses do.
  var createsUpload: Bool {
    step.kind == .allocate && readsUploadExpires
      && step.request.headers.contains { $0.name.lowercased() == "tus-resumable" }
  }

  /// As `Step.expects(status:)`.
  func expects(_ status: Int) -> Bool {
    expectsSuccess ? 200...299 ~= status : step.expects(status: status)
  }

  /// Whether the body of a response with this status is read for `expect` and `capture` after the response
  /// is complete.
  func isRead(_ status: Int) -> Bool {
    guard kind.storesDocument else { return expects(status) }
    // A document was already checked before it replaced the file.
    return step.content(of: status) == .nothing && status != 204 && status != 205
  }
}

extension TransferRequest.Redirects {
  /// - Parameter known: the origins that the manifest names for the request.
  fileprivate init(_ rules: RedirectRules, known: OriginSet) {
    let acrossOrigins: TransferRequest.AcrossOrigins =
      switch rules.acrossOrigins {
      case .refuse: .refuse
      case .strip: .strip
      case .follow: .follow
      }
    let origins = rules.origins.map { patterns in
      var origins = known
      origins.formUnion(OriginSet(patterns: patterns))
      return origins
    }
    self.init(limit: rules.limit, acrossOrigins: acrossOrigins, origins: origins)
  }
}

import FerryJournal
import FerryManifest
import FerryPlan

extension Job {
  /// The part of the job that a launch executes.
  ///
  /// Unless all parts use one ledger (`engine: { budgets: shared }`), budgets are divided into one part for each shard and
  /// one for the work that runs once. `on_end` is sent once, by the launch after the shards.
  ///
  /// - Throws: `UsageError` if the manifest cannot be divided.
  package func divided(_ part: ShardPart) throws(UsageError) -> Job {
    guard self.part == nil else { return self }
    let after: Set<Int>
    do throws(Plan.UploadChain) {
      after = try plan.nodesAfterUploads()
    } catch {
      let need = error.need == error.first ? "" : ", through '\(error.need)'"
      throw UsageError(
        "\(DisplayPath.shown(path)): the manifest cannot be divided into shards: '\(error.upload)' needs "
          + "'\(error.first)'\(need), and a shard does not wait for the items of other shards\n"
          + "help: move '\(error.upload)' to another manifest, and run that manifest after this one")
    }
    if let token = plan.nodes.first(where: \.usesRefreshToken) {
      throw UsageError(
        "\(DisplayPath.shown(path)): the manifest cannot be divided into shards: token '\(token.name)' has "
          + "'grant: refresh_token', and shards on several machines cannot share a refresh token that the server replaces\n"
          + "help: use 'grant: client_credentials', or run the manifest without --shard")
    }
    if let index = plan.nodes.indices.first(where: { plan.isForgotten($0) && !after.contains($0) }) {
      let (node, session) = (plan.nodes[index], plan.sessions[plan.nodes[index].session.index])
      throw UsageError(
        "\(DisplayPath.shown(path)): the manifest cannot be divided into shards: \(node.kind.rawValue) '\(node.name)' is in "
          + "the session '\(session.name)' of kind 'ephemeral', so the shards and 'finish' could not read its outcome\n"
          + "help: use 'kind: default' or 'kind: background' for this session, or run the manifest without --shard"
      )
    }
    var job = self
    job.part = part
    let index =
      switch part {
      case .items(let shard): shard.number - 1
      case .setup(let count), .finish(let count): count
      }
    switch manifest.engine.budgets {
    case .split:
      job.manifest.budgets = manifest.budgets.part(index, of: part.count + 1)
      job.plan.policies.budgets = job.manifest.budgets
    case .shared: break
    }
    switch part {
    case .items:
      job.plan = job.plan.ofShard
      job.manifest.onEnd = []
    case .setup: job.manifest.onEnd = []
    case .finish: break
    }
    return job
  }

  /// The command that runs the work before the shards.
  ///
  /// - Parameter state: the state folder of one of the parts.
  func setupCommand(count: Int, beside state: StateDirectory) throws(JournalError) -> String {
    try ResumeCommand.line(.setup(count: count), manifest: path, variables: variables, in: state)
  }

  /// The part of the job whose state the folder contains; the whole job for any other folder.
  ///
  /// - Throws: `UsageError` if the folder contains the state of a part of another manifest.
  func divided(in state: StateDirectory) throws -> Job {
    guard part == nil, let stored = try state.storedPart else { return self }
    try checkIsOwner(of: state)
    switch stored {
    case .shard(let shard): return try divided(.items(shard))
    case .once(let count): return try divided(.finish(count: count))
    }
  }

  /// Checks that the folder does not contain the state of a part of another manifest.
  ///
  /// - Throws: `UsageError` if it does.
  func checkIsOwner(of state: StateDirectory) throws {
    guard let owner = try state.manifestOfPart, owner != plan.manifest else { return }
    throw ownershipError(of: state, owner: owner)
  }

  /// The error of a state folder that is for a part of another manifest.
  func ownershipError(of state: StateDirectory, owner: String) -> UsageError {
    UsageError(
      "\(DisplayPath.shown(Array(state.path.utf8))) is the state folder of a part of '\(DisplayPath.shown(owner))', not of "
        + "'\(plan.manifest)'\nhelp: specify a state folder of '\(plan.manifest)' with --state")
  }
}

extension Jobs {
  /// The command that continues a launch of the jobs.
  ///
  /// - Parameters:
  ///   - part: the part that the launch executed; `nil` if the command line did not specify it.
  ///   - state: the value of `--state`.
  package func resumeCommand(
    part: ShardPart?, state: String?, environment: [String: String]
  ) throws -> String {
    let state = try StateDirectory(explicit: state, environment: environment)
    // A part belongs to a single manifest.
    guard let job = all.first, all.count == 1 else { return state.command(["resume"]) }
    return try ResumeCommand.line(part, manifest: job.path, variables: job.variables, in: state)
  }
}

extension Plan {
  /// Whether the node is a request or fetch whose outcome no journal keeps.
  fileprivate func isForgotten(_ index: Int) -> Bool {
    nodes[index].kind.runsOnce && sessions[nodes[index].session.index].kind == .ephemeral
  }
}

extension Node {
  /// Whether the node is a token that is fetched with a refresh token.
  fileprivate var usesRefreshToken: Bool {
    guard case .token(let work) = work, case .oauth2(let grant) = work.step.request.body else { return false }
    return grant.grant == .refreshToken
  }
}

extension Selection {
  /// The nodes that run before the shards: all except uploads, download batches and the nodes that need them.
  init(beforeUploadsOf plan: Plan) throws(Plan.UploadChain) {
    let after = try plan.nodesAfterUploads()
    self.init(
      nodes: Set(plan.nodes.indices.filter { !plan.nodes[$0].kind.hasItems && !after.contains($0) }))
  }
}

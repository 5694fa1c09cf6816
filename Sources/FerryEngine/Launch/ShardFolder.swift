import FerryJournal
import FerryPlan
import Foundation

/// The state folder of one part of a manifest, and the rules that keep two divisions of the same files apart.
package enum ShardFolder {
  /// Creates the state folder of a part, and returns its path.
  ///
  /// - Parameter state: the state folder of the whole manifest.
  /// - Throws: `UsageError` if the manifest has been used without shards, or with another number of shards, in this
  ///   folder. The part would not know which files were sent, and would send them again.
  package static func create(
    for part: ShardPart, of job: Job, state: String?, environment: [String: String]
  ) throws -> String {
    _ = try job.divided(part)
    let whole = try StateDirectory(explicit: state, environment: environment)
    let manifest = job.plan.manifest
    guard try whole.storedPart == nil else {
      throw UsageError(
        "\(whole.path) is the state folder of one part of a manifest\n"
          + "help: with --shard, specify the state folder of the whole manifest, which contains the folder 'shards'"
      )
    }
    try checkCount(of: manifest, part, in: whole)
    try whole.create()
    let isFirst = try whole.shardFolders(of: manifest).isEmpty
    if isFirst { try checkIsNotRunWhole(manifest, in: whole) }
    // Other processes may start at the same time. Those with another number of shards read the recorded one. A run
    // without shards, or `ferry submit`, either finds it or has registered the manifest before (`register`).
    let isRecorded = try whole.recordDivision(of: manifest, into: part.count)
    if isFirst {
      try checkCount(of: manifest, part, in: whole)
      do {
        try checkIsNotRunWhole(manifest, in: whole)
      } catch {
        if isRecorded { try whole.removeDivision(of: manifest) }
        throw error
      }
    }
    let marker = ShardMarker(part)
    let folder = try whole.folder(of: marker, of: manifest)
    try folder.create(for: marker, of: manifest)
    return folder.path
  }

  /// Creates the state folder of a shard that has not run yet, if `state` is for it, so that files can be submitted to the
  /// shard before its first run.
  ///
  /// - Throws: `UsageError` as `create(for:of:state:environment:)`, and if `state` is reserved for something else.
  static func createPart(at state: StateDirectory, of job: Job, environment: [String: String]) throws {
    guard case .part(.shard(let shard), let manifest, let whole) = try state.shardPlace else {
      return try checkPlace(of: state)
    }
    guard SplitPath(try state.shards(of: job.plan.manifest)).name == manifest else {
      throw job.ownershipError(of: state, owner: manifest.removingPercentEncoding ?? manifest)
    }
    if let known = try StateDirectory(explicit: whole, environment: environment).shardCount(
      of: job.plan.manifest), known != shard.count
    {
      throw UsageError(
        "\(DisplayPath.shown(Array(state.path.utf8))) is for one of \(shard.count) shards, but '\(job.plan.manifest)' is "
          + "divided into \(known)\nhelp: specify the state folder of the shard that sends the files with --state"
      )
    }
    _ = try create(for: .items(shard), of: job, state: whole, environment: environment)
  }

  /// Checks that the manifest is not divided into another number of shards.
  private static func checkCount(
    of manifest: String, _ part: ShardPart, in whole: StateDirectory
  ) throws {
    guard let count = try whole.shardCount(of: manifest), count != part.count else { return }
    throw UsageError(
      "'\(manifest)' is divided into \(Count.text(count, "shard")) in \(whole.path); with \(part.count), files that "
        + "were already sent would be sent again\n"
        + "help: write --shard \(part.description.prefix { $0 != "/" })/\(count), or choose another folder with "
        + "--state if all files are to be sent again")
  }

  private static func checkIsNotRunWhole(_ manifest: String, in whole: StateDirectory) throws {
    let history = try RunHistory.openForReading(in: whole)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    guard try history.job(manifest: manifest) != nil else { return }
    throw UsageError(
      "'\(manifest)' has been run without shards, or files were submitted to it, in \(whole.path); with shards, files "
        + "that were already sent would be sent again, and submitted files would not be sent\n"
        + "help: omit --shard, or choose another folder with --state if all files are to be sent again")
  }

  /// Records a manifest as a job of the state folder.
  ///
  /// - Throws: `UsageError` if another process has divided the manifest into shards since this process began.
  static func register(_ job: JobRow, _ history: RunHistory, in state: StateDirectory) throws {
    let isNew = try history.job(manifest: job.manifest) == nil
    try history.register(job)
    do {
      // Also if the manifest was registered before: the process that registered it may be about to fail this check.
      try checkIsNotDivided(job.manifest, in: state)
    } catch {
      if isNew { try history.unregister(manifest: job.manifest) }
      throw error
    }
  }

  /// Checks that the manifest is not divided into shards in this state folder.
  private static func checkIsNotDivided(_ manifest: String, in state: StateDirectory) throws {
    guard try state.shardCount(of: manifest) != nil else { return }
    throw UsageError(
      "'\(manifest)' is divided into shards in \(state.path); without --shard, files that were already sent "
        + "would be sent again\n"
        + "help: run its parts with --shard, or choose another folder with --state if all files are to be sent again"
    )
  }

  /// Rejects a folder in or below `shards` that does not contain the state of a part. A run there would send the files of
  /// all shards.
  private static func checkPlace(of state: StateDirectory) throws {
    let folder = DisplayPath.shown(Array(state.path.utf8))
    switch try state.shardPlace {
    case .part(.shard(let shard), _, let whole):
      throw UsageError(
        "\(folder) is for the state of shard \(shard.number)/\(shard.count), which has not run yet\n"
          + "help: write --shard \(shard.number)/\(shard.count) --state \(DisplayPath.shown(Array(whole.utf8)))"
      )
    case .part(.once(let count), _, let whole):
      throw UsageError(
        "\(folder) is for the state of the work before and after the shards, which has not run yet\n"
          + "help: write --shard setup/\(count) --state \(DisplayPath.shown(Array(whole.utf8)))")
    case .parts:
      throw UsageError(
        "\(folder) contains the state folders of shards\n"
          + "help: specify the state folder of the whole manifest or of one shard with --state")
    case .partBehindLink: throw wholeIsUnknown(state)
    case nil: break
    }
  }

  private static func wholeIsUnknown(_ state: StateDirectory) -> UsageError {
    UsageError(
      "the state folders of the whole manifest and of the other parts cannot be found from "
        + "\(DisplayPath.shown(Array(state.path.utf8)))\n"
        + "help: specify the path in the state folder of the whole manifest: STATE/shards/MANIFEST/PART")
  }

  /// Checks that a launch with this state folder can execute the jobs.
  package static func check(
    _ jobs: Jobs, part: ShardPart?, state: String?, environment: [String: String]
  ) throws {
    _ = try self.jobs(jobs, part: part, in: StateDirectory(explicit: state, environment: environment))
  }

  /// The part of the jobs that a launch with this state folder executes.
  ///
  /// - Parameter part: the part that the command line specifies.
  static func jobs(_ jobs: Jobs, part: ShardPart?, in state: StateDirectory) throws -> Jobs {
    let stored = try state.storedPart
    guard part != nil || stored != nil else {
      try checkPlace(of: state)
      for job in jobs.all { try checkIsNotDivided(job.plan.manifest, in: state) }
      return jobs
    }
    guard let job = jobs.all.first, jobs.all.count == 1 else {
      throw UsageError(
        "\(state.path) is the state folder of one part of a single manifest; run only that manifest")
    }
    try job.checkIsOwner(of: state)
    guard try state.hasKnownParts else {
      throw wholeIsUnknown(state)
    }
    if let part { return Jobs(try job.divided(part)) }
    switch stored {
    case nil: return jobs
    case .shard(let shard): return Jobs(try job.divided(.items(shard)))
    case .once(let count):
      throw UsageError(
        "\(state.path) contains the work of '\(job.plan.manifest)' that runs once, before and after its shards\n"
          + "help: run it with: \(try job.setupCommand(count: count, beside: state)) (or finish/\(count))")
    }
  }
}

import FerryJournal
import FerryPlan

/// The state folder of one part of a manifest, and the rules that keep two divisions of the same files apart.
package enum ShardFolder {
  /// Creates the state folder of a part, and returns its path.
  ///
  /// - Parameter state: the state folder of the whole manifest.
  /// - Throws: `UsageError` if the manifest has been run without shards, or with another number of shards, in this
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
    let folders = try whole.shardFolders(of: manifest)
    if let other = folders.first(where: { $0.count != part.count }) {
      throw UsageError(
        "'\(manifest)' is divided into \(Count.text(other.count, "shard")) in \(whole.path); with \(part.count), files that "
          + "were already sent would be sent again\n"
          + "help: write --shard \(part.description.prefix { $0 != "/" })/\(other.count), or choose another folder with "
          + "--state if all files are to be sent again")
    }
    if folders.isEmpty {
      let history = try RunHistory.openForReading(in: whole)
      defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
      if try history.job(manifest: manifest) != nil {
        throw UsageError(
          "'\(manifest)' has been run without shards in \(whole.path); with shards, files that were already sent would be "
            + "sent again\n"
            + "help: omit --shard, or choose another folder with --state if all files are to be sent again")
      }
    }
    let marker = ShardMarker(part)
    let folder = try whole.folder(of: marker, of: manifest)
    try folder.create(for: marker)
    return folder.path
  }

  /// The part of the jobs that a launch with this state folder executes.
  ///
  /// - Parameter part: the part that the command line specifies.
  static func jobs(_ jobs: Jobs, part: ShardPart?, in state: StateDirectory) throws -> Jobs {
    let stored = try state.storedPart
    guard part != nil || stored != nil else {
      for job in jobs.all where try !state.shardFolders(of: job.plan.manifest).isEmpty {
        throw UsageError(
          "'\(job.plan.manifest)' is divided into shards in \(state.path); without --shard, files that were already sent "
            + "would be sent again\n"
            + "help: run its parts with --shard, or choose another folder with --state if all files are to be sent again"
        )
      }
      return jobs
    }
    guard let job = jobs.all.first, jobs.all.count == 1 else {
      throw UsageError(
        "\(state.path) is the state folder of one part of a single manifest; run only that manifest")
    }
    if let part { return Jobs(try job.divided(part)) }
    guard case .shard(let shard) = stored else {
      throw UsageError(
        "\(state.path) contains the work of '\(job.plan.manifest)' that runs once, before and after its shards\n"
          + "help: write --shard setup/N or --shard finish/N, with the state folder \(try state.whole.path)")
    }
    return Jobs(try job.divided(.items(shard)))
  }
}

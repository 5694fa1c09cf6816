import FerryJournal
import FerryPlan
import FerryReport

/// The command that lists the ambiguous items of a run.
package enum StatusCommand {
  /// `ferry status` with the state folder of the run. The report of `finish` also counts the items of the shards, which are
  /// in the state folders of the shards.
  ///
  /// - Parameter state: the value of `--state`: the state folder of the run.
  package static func line(
    for record: RunRecord, state: String?, environment: [String: String]
  ) throws -> String {
    let state = try StateDirectory(explicit: state, environment: environment)
    let folders = foldersOfShards(of: record, beside: state)
    return folders.isEmpty ? state.command(["status"]) : line(in: folders)
  }

  /// The command for the first of these state folders. `ferry status --shards` lists no items.
  ///
  /// - Parameter folders: the state folders of the shards with ambiguous items.
  static func line(in folders: [String]) -> String {
    let others = max(folders.count - 1, 0)
    let command = ShellWord.line(["ferry", "status", "--state", folders.first ?? "FOLDER_OF_THE_SHARD"])
    return others == 0 ? command : "\(command) (and likewise for \(Count.text(others, "other shard")))"
  }

  /// The state folders of the shards whose reports count ambiguous items, if the run is `finish`.
  private static func foldersOfShards(of record: RunRecord, beside state: StateDirectory) -> [String] {
    let run = record.run
    guard record.totals.items.ambiguous > 0, let manifest = run.manifest,
      // ferry wrote this value; any other value does not identify a part.
      case .finish(let count) = run.shard.flatMap({ try? ShardArgument.part($0, environment: [:]) })
    else { return [] }
    let reports = ShardReports(beside: state, manifest: manifest)
    return (1...count).compactMap { number in
      // A shard whose folder can no longer be read is omitted, because the summary is more important.
      guard let shard = Shard(number, of: count), let folder = try? state.sibling(.shard(shard)),
        case .report(let source) = try? reports.last(
          of: .shard(shard), inRound: run.round ?? 0, ofPass: run.pass),
        source.record.totals.items.ambiguous > 0
      else { return nil }
      return folder.path
    }
  }
}

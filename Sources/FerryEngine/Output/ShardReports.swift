import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// The reports of a manifest's parts: its shards, and the work that runs once.
package struct ShardReports {
  /// The report of one shard, or the reason why there is none.
  package enum Last {
    case report(ReportSource)
    /// The reason why there is no report of the round.
    case missing(String)
  }

  let folder: StateDirectory
  let manifest: String

  /// - Parameter folder: the state folder of one of the parts.
  init(beside folder: StateDirectory, manifest: String) {
    self.folder = folder
    self.manifest = manifest
  }

  /// The report of the shard's last run in a round.
  func last(of shard: Shard, inRound round: Int64) throws -> Last {
    let state = try folder.sibling(.shard(shard))
    let history = try RunHistory.openForReading(in: state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    guard let run = try history.lastRun(of: manifest),
      run.rounds.contains(where: { $0.manifest == manifest && $0.number == round })
    else { return .missing("has not run") }
    guard run.state == .ended else {
      return .missing(run.process.isAlive ? "is running" : "is running or was interrupted")
    }
    guard let source = try StoredReport.source(ofRun: run.id, in: state) else {
      return .missing("ended without a report")
    }
    return .report(source)
  }

  /// The report of all parts.
  package struct Merged {
    package var source: ReportSource
    /// The command that lists the ambiguous items of earlier runs.
    package var status: String
  }

  /// A report of a part.
  private struct Found {
    var source: ReportSource
    /// The state folder of the part; `nil` if the report is in a file.
    var folder: String?
  }

  /// Merges the reports of a manifest's parts into one.
  ///
  /// - Parameter paths: state folders, folders of parts, or reports in JSON.
  /// - Throws: `UsageError` if a path has no report of a part, or if the parts do not belong together.
  package static func merged(_ paths: [String]) throws -> Merged {
    var kept = KeptProblems()
    let all = try Self.distinct(try paths.flatMap { try sources(at: $0, &kept) })
    let found = all.map(\.source)
    guard let count = try sharedCount(of: found) else {
      throw UsageError(
        "there is no report of a shard in \(paths.map { DisplayPath.shown($0) }.joined(separator: ", "))")
    }
    var byPart: [ShardPart: [ReportSource]] = [:]
    for source in found {
      if let part = ShardPart(source.record) { byPart[part, default: []].append(source) }
    }
    // If the work that runs once has a report, all parts share the last round. Otherwise, each shard has its own
    // rounds, and its last round counts.
    let shared =
      byPart.keys.contains { $0.shard == nil } ? found.compactMap(\.record.run.round).max() : nil
    for (part, sources) in byPart {
      let round = shared ?? sources.compactMap(\.record.run.round).max()
      byPart[part] = sources.filter { $0.record.run.round == round }
        .sorted { $0.record.run.startedAt < $1.record.run.startedAt }
    }
    byPart = byPart.filter { !$0.value.isEmpty }
    var parts: [ShardPart] = [.setup(count: count), .finish(count: count)].filter { byPart[$0] != nil }
    parts += (1...count).compactMap { Shard($0, of: count).map(ShardPart.items) }
    let merged = RunRecord.merged(
      parts.map { part in .init(part: part, runs: (byPart[part] ?? []).map(\.record)) })
    guard let merged else { throw UsageError("there is no report of a shard") }
    let items = parts.filter { $0.shard != nil }.compactMap { byPart[$0]?.last }
    return Merged(
      source: ReportSource(merged) { body in for source in items { try source.eachItem(body) } },
      status: statusCommand(all))
  }

  /// The reports without those that were already read, for example from a state folder and a file, so that the totals
  /// count each run once.
  ///
  /// - Throws: `UsageError` if two reports of one run have different results.
  private static func distinct(_ found: [Found]) throws(UsageError) -> [Found] {
    struct Key: Hashable {
      var part: ShardPart?
      var manifest: String?
      var run: String
    }
    var kept: [Found] = []
    var indices: [Key: Int] = [:]
    for report in found {
      let run = report.source.record.run
      let key = Key(part: ShardPart(report.source.record), manifest: run.manifest, run: run.id)
      if let index = indices[key] {
        let known = kept[index].source.record
        guard known.totals.items == report.source.record.totals.items, known.run.exitCode == run.exitCode
        else {
          throw UsageError(
            "two reports of run \(DisplayPath.shown(run.id)) have different results\n"
              + "help: specify only the report that ferry wrote")
        }
        // The remedy for ambiguous items needs the state folder.
        kept[index].folder = kept[index].folder ?? report.folder
      } else {
        indices[key] = kept.count
        kept.append(report)
      }
    }
    return kept
  }

  /// The command for the first shard with ambiguous items. `ferry status --shards` lists no items.
  private static func statusCommand(_ found: [Found]) -> String {
    let folders = found.filter { $0.source.record.totals.items.ambiguous > 0 }.compactMap(\.folder)
    let others = Set(folders.dropFirst()).subtracting(folders.prefix(1)).count
    let command = ShellWord.line(["ferry", "status", "--state", folders.first ?? "FOLDER_OF_THE_SHARD"])
    return others == 0 ? command : "\(command) (and likewise for \(Count.text(others, "other shard")))"
  }

  /// The number of shards. All reports must have the same number of shards and the same manifest.
  private static func sharedCount(of sources: [ReportSource]) throws(UsageError) -> Int? {
    var count: Int?
    var manifest: String?
    for source in sources {
      let run = source.record.run
      guard let part = ShardPart(source.record) else {
        throw UsageError(
          "run \(run.id) is not a run of a shard\nhelp: 'ferry report' shows reports of runs without --shard")
      }
      guard count == nil || count == part.count, manifest == nil || manifest == run.manifest else {
        throw UsageError(
          "the reports do not belong together: run \(run.id) is part \(part) of '\(run.manifest ?? "")'")
      }
      (count, manifest) = (part.count, run.manifest)
    }
    return count
  }

  private static func sources(at path: String, _ kept: inout KeptProblems) throws -> [Found] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let source = try StoredReport.read(path: path)
      try checkExitCode(of: source, at: path)
      return [Found(source: kept.limited(source))]
    }
    return try ShardFolders.parts(at: path).flatMap { part in
      try sources(in: part.state, &kept).map { Found(source: $0, folder: part.state.path) }
    }
  }

  /// Rejects a report with an exit code that no run can have.
  private static func checkExitCode(of source: ReportSource, at path: String) throws(UsageError) {
    let code = source.record.run.exitCode
    guard ExitCode(rawValue: code) == nil else { return }
    throw UsageError(
      "\(DisplayPath.shown(path)): is not a report of ferry: it has the exit code \(code), which no run can have"
    )
  }

  /// The reports of a part's runs in the round of its last run, oldest first.
  private static func sources(
    in state: StateDirectory, _ kept: inout KeptProblems
  ) throws -> [ReportSource] {
    let history = try RunHistory.openForReading(in: state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    let runs = try history.runs()
    guard let rounds = runs.first?.rounds else { return [] }
    var sources: [ReportSource] = []
    for run in runs.prefix(while: { $0.rounds == rounds }) {
      guard let found = try StoredReport.source(ofRun: run.id, in: state) else { continue }
      try checkExitCode(of: found, at: state.report(ofRun: run.id))
      // The merged report has the problems of the newest report.
      let source = sources.isEmpty ? kept.limited(found) : KeptProblems.none(of: found)
      // The report of a killed run does not state its part.
      var record = source.record
      if record.run.shard == nil, case .shard(let shard) = try state.storedPart {
        record.run.shard = ShardPart.items(shard).description
      }
      if record.run.shard != nil { sources.append(source.with(record)) }
    }
    return sources.reversed()
  }
}

/// The paths that could not be listed, in the reports that are being merged. Each report can list thousands, and their
/// merged report lists only the first ones, so the others are dropped as soon as a report has been read.
private struct KeptProblems {
  /// The number of kept problems of each node.
  private var counts: [String: Int] = [:]

  mutating func limited(_ source: ReportSource) -> ReportSource {
    Self.limited(source) { node in
      let kept = counts[node.name] ?? 0
      node.limitProblems(to: max(0, RunRecord.NodeRecord.mostProblems - kept))
      counts[node.name] = kept + (node.problems?.count ?? 0)
    }
  }

  static func none(of source: ReportSource) -> ReportSource {
    limited(source) { $0.limitProblems(to: 0) }
  }

  private static func limited(
    _ source: ReportSource, _ limit: (inout RunRecord.NodeRecord) -> Void
  ) -> ReportSource {
    guard source.record.nodes.contains(where: { $0.problems != nil }) else { return source }
    var record = source.record
    for index in record.nodes.indices { limit(&record.nodes[index]) }
    return source.with(record)
  }
}

/// Finds the state folders of a manifest's parts.
package enum ShardFolders {
  package struct Part {
    var marker: ShardMarker
    var state: StateDirectory
  }

  /// The parts in a folder, which may be the state folder of the whole manifest, the folder with its parts, or the
  /// folder of one part.
  static func parts(at path: String) throws -> [Part] {
    let path = AbsolutePath.text(of: path)
    let state = try StateDirectory(explicit: path, environment: [:])
    if let marker = try state.storedPart { return [Part(marker: marker, state: state)] }
    var folder = path
    var found = try StateDirectory.shardFolders(in: folder)
    if found.isEmpty {
      let manifests = try StateDirectory.manifestsWithShards(in: state)
      guard manifests.count <= 1 else {
        throw UsageError(
          "\(DisplayPath.shown(path)) contains the shards of several manifests\nhelp: specify one of "
            + manifests.map { DisplayPath.shown("\(path)/shards/\($0)") }.joined(separator: ", "))
      }
      folder = path + "/shards/" + (manifests.first ?? "")
      if !manifests.isEmpty { found = try StateDirectory.shardFolders(in: folder) }
    }
    guard !found.isEmpty else {
      throw UsageError(
        "\(DisplayPath.shown(path)) does not contain the state of shards\n"
          + "help: specify the state folder of 'ferry run --shard', or a folder below its folder 'shards'")
    }
    return try found.map { marker in
      Part(
        marker: marker,
        state: try StateDirectory(explicit: folder + "/" + marker.folderName, environment: [:]))
    }
  }
}

extension ShardPart {
  /// The part of a manifest that a run executed; `nil` if the manifest was not divided.
  fileprivate init?(_ record: RunRecord) {
    // ferry wrote this value; any other value does not identify a part.
    guard let text = record.run.shard,
      let part = try? ShardArgument.part(text, environment: [:])
    else { return nil }
    self = part
  }
}

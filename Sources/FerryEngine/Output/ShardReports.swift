import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// The reports of a manifest's parts: its shards, and the work that runs once.
package struct ShardReports {
  /// What is known about one shard.
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

  /// Merges the reports of a manifest's parts into one.
  ///
  /// - Parameter paths: state folders, folders of parts, or reports in JSON.
  /// - Throws: `UsageError` if a path has no report of a part, or if the parts do not belong together.
  package static func merged(_ paths: [String]) throws -> ReportSource {
    var found: [ReportSource] = []
    for path in paths { found += try sources(at: path) }
    guard let count = try sharedCount(of: found) else {
      throw UsageError(
        "there is no report of a shard in \(paths.map { DisplayPath.shown($0) }.joined(separator: ", "))")
    }
    var byPart: [ShardPart: [ReportSource]] = [:]
    for source in found {
      if let part = ShardPart(source.record) { byPart[part, default: []].append(source) }
    }
    // The round is that of `setup`. Without `setup`, each shard has its own rounds, and its last one counts.
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
    return ReportSource(merged) { body in for source in items { try source.eachItem(body) } }
  }

  /// The command that shows the state of the shards in these folders.
  package static func statusCommand(_ paths: [String]) -> String {
    ShellWord.line(["ferry", "status", "--shards"] + paths.prefix(1))
  }

  /// The number of shards, which must be the same in all reports, as must the manifest.
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

  private static func sources(at path: String) throws -> [ReportSource] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [try StoredReport.read(path: path)] }
    return try ShardFolders.parts(at: path).flatMap { try sources(in: $0.state) }
  }

  /// The reports of a part's runs in the round of its last run, oldest first.
  private static func sources(in state: StateDirectory) throws -> [ReportSource] {
    let history = try RunHistory.openForReading(in: state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    let runs = try history.runs()
    guard let rounds = runs.first?.rounds else { return [] }
    var sources: [ReportSource] = []
    for run in runs.prefix(while: { $0.rounds == rounds }).reversed() {
      guard let source = try StoredReport.source(ofRun: run.id, in: state) else { continue }
      // The report of a killed run does not state its part.
      var record = source.record
      if record.run.shard == nil, case .shard(let shard) = try state.storedPart {
        record.run.shard = ShardPart.items(shard).description
      }
      if record.run.shard != nil { sources.append(source.with(record)) }
    }
    return sources
  }
}

/// Finds the state folders of a manifest's parts.
package enum ShardFolders {
  package struct Part {
    var marker: ShardMarker
    var state: StateDirectory
  }

  /// The parts in a folder: the state folder of the whole manifest, the folder with its parts, or the folder of one
  /// part.
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
            + manifests.map { "\(path)/shards/\($0)" }.joined(separator: ", "))
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

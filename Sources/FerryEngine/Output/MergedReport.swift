import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// The report of all parts of a divided manifest: its shards, and the work that runs once.
package struct MergedReport {
  package var source: ReportSource
  /// The command that lists the ambiguous items of earlier runs.
  package var status: String

  /// Merges the reports of a manifest's parts into one.
  ///
  /// - Parameter paths: state folders, folders of parts, or reports in JSON.
  /// - Throws: `UsageError` if a path has no report of a part, or if the parts do not belong together.
  package init(_ paths: [String]) throws {
    var kept = KeptProblems()
    let found = try Self.runs(at: paths, &kept)
    guard let count = try Self.sharedCount(of: found) else { throw Self.nothing(in: paths) }
    let byPart = Self.selected(found)
    let (setup, finish) = (ShardPart.setup(count: count), ShardPart.finish(count: count))
    var parts = [setup, finish].filter { byPart[$0] != nil }
    // Without a run of `finish`, the merged report shows it as `missing`.
    if byPart[finish] == nil, try Self.isDropped(byPart[setup]?.last) { parts.append(finish) }
    parts += (1...count).compactMap { Shard($0, of: count).map(ShardPart.items) }
    var reports: [RunRecord.PartReports] = []
    var items: [ReportSource] = []
    var ambiguous: [String] = []
    for part in parts {
      let reported = try Self.reports(of: byPart[part] ?? [], &kept)
      // An older report does not show what a run without a report has done.
      let last = byPart[part]?.last
      let unreported = last?.id == reported.last?.run.id ? nil : try last?.unreported()
      reports.append(.init(part: part, runs: reported.map(\.source.record), unreported: unreported))
      // The report of `finish` also counts the items of the shards.
      guard part.shard != nil, let last = reported.last else { continue }
      items.append(last.source)
      if last.source.record.totals.items.ambiguous > 0, let folder = last.run.stored?.state.path {
        ambiguous.append(folder)
      }
    }
    guard let merged = RunRecord.merged(reports) else { throw Self.nothing(in: paths) }
    source = ReportSource(merged) { body in for source in items { try source.eachItem(body) } }
    status = StatusCommand.line(in: ambiguous)
  }

  private static func nothing(in paths: [String]) -> UsageError {
    UsageError(
      "there is no report of a shard in \(paths.map { DisplayPath.shown($0) }.joined(separator: ", "))")
  }

  /// All runs of the parts, and for each part, in the order in which they began.
  private static func runs(at paths: [String], _ kept: inout KeptProblems) throws -> [PartRun] {
    /// Runs of one part whose order is known.
    var groups: [[PartRun]] = []
    var files: [PartRun] = []
    for path in paths {
      var status = stat()
      guard stat(path, &status) == 0 else {
        throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(String(cString: strerror(errno)))")
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        groups += try ShardFolders.parts(at: path).map { try PartRun.runs(in: $0) }
      } else {
        let source = try StoredReport.read(path: path)
        try PartRun.checkExitCode(of: source, at: path)
        files.append(try PartRun(file: kept.limited(source)))
      }
    }
    return try distinct(groups + files.map { [$0] })
      // The order of runs in different places can only be inferred from their times.
      .sorted { ($0.last?.startedAt ?? "") < ($1.last?.startedAt ?? "") }.flatMap(\.self)
  }

  /// The runs without those that were already found, for example in a state folder and in a file, so that the totals
  /// count each run once.
  ///
  /// - Throws: `UsageError` if two reports of one run have different results.
  private static func distinct(_ groups: [[PartRun]]) throws -> [[PartRun]] {
    struct Key: Hashable {
      var part: ShardPart
      var manifest: String?
      var run: String
    }
    var kept: [[PartRun]] = []
    var places: [Key: (group: Int, run: Int)] = [:]
    for group in groups {
      kept.append([])
      for run in group {
        let key = Key(part: run.part, manifest: run.manifest, run: run.id)
        guard let place = places[key] else {
          places[key] = (kept.count - 1, kept[kept.count - 1].count)
          kept[kept.count - 1].append(run)
          continue
        }
        let known = kept[place.group][place.run]
        guard let new = run.file else { continue }
        if let old = try known.report()?.record {
          let record = new.record
          guard old.totals.items == record.totals.items, old.run.exitCode == record.run.exitCode else {
            throw UsageError(
              "two reports of run \(DisplayPath.shown(run.id)) have different results\n"
                + "help: specify only the report that ferry wrote")
          }
        } else {
          kept[place.group][place.run].file = new
        }
      }
    }
    return kept
  }

  /// The runs that count, by part.
  ///
  /// If the work that runs once has run, these are the runs in its last pass. Otherwise, each shard has its own rounds, and
  /// its last round counts.
  private static func selected(_ runs: [PartRun]) -> [ShardPart: [PartRun]] {
    func last(_ runs: [PartRun]) -> PartRun.Pass? { runs.max { $0.round < $1.round }?.ofPass }
    let shared = last(runs.filter { $0.part.shard == nil })
    return Dictionary(grouping: runs, by: \.part).compactMapValues { runs in
      let pass = shared ?? last(runs)
      let found = runs.filter { $0.ofPass == pass }
      return found.isEmpty ? nil : found
    }
  }

  /// Whether the pass of the last run of `setup` was dropped before `finish` has run: its round is closed, although
  /// requests or fetches remain for `finish`.
  private static func isDropped(_ setup: PartRun?) throws -> Bool {
    guard let setup, setup.isRoundClosed else { return false }
    return try setup.report()?.record.nodes.contains { $0.kind.runsOnce && $0.state == .notSelected } ?? false
  }

  /// A run and its report.
  private struct Reported {
    var run: PartRun
    var source: ReportSource
  }

  /// The runs that have a report, oldest first.
  private static func reports(of runs: [PartRun], _ kept: inout KeptProblems) throws -> [Reported] {
    var found: [Reported] = []
    for run in runs.reversed() {
      guard let source = try run.report() else { continue }
      // The merged report has the problems of the newest report. Those of reports in files are limited already.
      let limited =
        run.file != nil ? source : found.isEmpty ? kept.limited(source) : KeptProblems.none(of: source)
      found.append(Reported(run: run, source: limited))
    }
    return found.reversed()
  }

  /// The number of shards. All runs must have the same number of shards and the same manifest.
  private static func sharedCount(of runs: [PartRun]) throws(UsageError) -> Int? {
    var known: PartRun?
    for run in runs {
      guard known == nil || known?.part.count == run.part.count && known?.manifest == run.manifest else {
        throw UsageError(
          "the reports do not belong together: run \(run.id) is part \(run.part) of '\(run.manifest ?? "")'")
      }
      known = run
    }
    return known?.part.count
  }
}

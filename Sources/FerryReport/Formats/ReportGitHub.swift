import FerryManifest
import FerryPlan

/// A report as annotations of GitHub Actions: at most ten errors, ten warnings and a notice, because GitHub shows no
/// more for a step.
///
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
struct ReportGitHub: ReportRenderer {
  private static let limit = 10
  /// The largest number of bytes of a message. GitHub truncates annotations at 64 KiB.
  private static let longest = 4096

  private enum Level: String { case error, warning, notice }

  private struct Line {
    var title: String
    var manifest: String?
    var message: String
  }

  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    let items = try UnfinishedItems(source)
    var (errors, warnings): ([Line], [Line]) = ([], [])
    if let fault = record.run.fault {
      errors.append(Line(title: "ferry", message: DisplayPath.joinedLines(fault)))
    }
    for node in record.nodes { Self.add(node, &errors, &warnings) }
    for (title, count) in items.ambiguousCounts.sorted(by: { $0.key < $1.key }) {
      guard let example = items.ambiguous.first(where: { $0.title == title }) else { continue }
      let reason = example.reason.map { ReasonText.text($0) } ?? ""
      let commands = (example.ambiguity?.resolve ?? []).map { DisplayPath.line($0) }.joined(
        separator: "\nor: ")
      let message =
        "\(Count.text(count, "item")) awaiting a decision, for example \(example.shownPath): \(reason)\n"
        + (commands.isEmpty ? AmbiguityText.ephemeral : "To decide: \(commands)")
      errors.append(Line(title: title, manifest: example.manifest, message: message))
    }
    for group in items.groups.all {
      let title = group.example.title
      let line = Line(title: title, manifest: group.example.manifest, message: group.line(title: title))
      if group.example.state == .failed { errors.append(line) } else { warnings.append(line) }
    }
    for shard in record.run.shards ?? [] {
      guard let absence = shard.absence else { continue }
      warnings.append(Line(title: "shard \(shard.part)", message: absence.message))
    }
    for edit in record.run.edits ?? [] {
      warnings.append(Line(title: edit.upload, message: DisplayPath.line(edit.message)))
    }
    try put(.error, errors, of: record, to: sink)
    try put(.warning, warnings, of: record, to: sink)
    try put(.notice, title: "ferry: \(record.names)", file: nil, ReportVerdict(record).sentence, to: sink)
  }

  private static func add(_ node: RunRecord.NodeRecord, _ errors: inout [Line], _ warnings: inout [Line]) {
    func line(_ message: String) -> Line {
      Line(title: node.title, manifest: node.manifest, message: message)
    }
    if node.isExcusedFailure {
      warnings.append(line(text(node)))
    } else if node.hasOwnFailure {
      errors.append(line(text(node)))
    }
    for group in node.problemGroups {
      let message = DisplayPath.line(group.message)
      errors.append(
        line(
          group.count == 1
            ? "\(group.exampleName): not listed: \(message)"
            : "\(group.count) paths could not be listed, for example \(group.exampleName): \(message)"))
    }
    for group in node.afterProblemGroups {
      let files = Count.text(group.count, "delivered file")
      warnings.append(
        line(
          "\(files) not moved or deleted, for example \(group.exampleName): \(DisplayPath.line(group.message))"
        ))
    }
  }

  /// Writes the lines of a level, as many as GitHub shows.
  private func put(_ level: Level, _ lines: [Line], of record: RunRecord, to sink: any ByteSink) throws {
    let shown = lines.count > Self.limit ? Self.limit - 1 : lines.count
    for line in lines.prefix(shown) {
      try put(level, title: line.title, file: file(record, line.manifest), line.message, to: sink)
    }
    guard lines.count > shown else { return }
    let rest = "and \(lines.count - shown) more in the report of run \(record.run.id)"
    try put(level, title: "ferry", file: nil, rest, to: sink)
  }

  private func put(_ level: Level, title: String, file: String?, _ message: String, to sink: any ByteSink)
    throws
  {
    var properties = file.map { ["file=\(GitHubCommands.property($0))"] } ?? []
    properties.append("title=\(GitHubCommands.property(Self.cut(DisplayPath.line(title), 200)))")
    try sink.write(
      "::\(level.rawValue) \(properties.joined(separator: ","))::\(GitHubCommands.data(Self.cut(message, Self.longest)))\n"
    )
  }

  /// The path of the manifest, if it is relative, so that GitHub shows the annotation with the file.
  private func file(_ record: RunRecord, _ manifest: String?) -> String? {
    let path =
      manifest.flatMap { name in record.run.manifests?.first { $0.name == name }?.path } ?? record.run.path
    return path.flatMap { $0.hasPrefix("/") || $0.isEmpty ? nil : $0 }
  }

  private static func text(_ node: RunRecord.NodeRecord) -> String {
    "\(node.kind.rawValue) \(node.title): \(node.state)"
      + (node.reason.map { ": \(ReasonText.text($0))" } ?? "")
  }

  private static func cut(_ text: String, _ limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    return String(decoding: Array(text.utf8.prefix(limit)), as: UTF8.self).replacing("\u{FFFD}", with: "")
      + "…"
  }
}

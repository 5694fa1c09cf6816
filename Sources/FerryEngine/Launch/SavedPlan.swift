import FerryDigest
import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// A plan in a file: `ferry plan --out FILE`, which `ferry run --plan FILE` runs if nothing has changed since.
///
/// The first line contains the state of the manifest and the journal; each further line is a file to send. The lines
/// are compared one by one.
package struct SavedPlan: Sendable {
  private struct Head: Codable {
    var version = 1
    var manifest: String
    var path: String
    /// The digest of the manifest's text and its includes.
    var sha256: String
    var variables: [String: String]
    var only: [String]
    var round: Int64
    /// The last run of the manifest; absent if there is none.
    var lastRun: String?
    /// The number of notes for the manifest's sessions: submitted files and cancellations.
    var notes: Int
    var files: Int
    /// The states of fetches and requests and, for each upload, the numbers of delivered, failed, ambiguous and begun
    /// items.
    var nodes: [String: String]
    /// The plan as `ferry plan --format json` prints it, for a comparison with the run.
    var plan: PlanDocument?
  }

  private let path: String
  private let head: Head

  /// The path of the manifest, and the nodes that `--only` selected.
  package var manifest: String { head.path }
  package var only: [String] { head.only }
  package var variables: [String: String] { head.variables }
  /// The expected work of a run; `nil` if an earlier version of ferry wrote the plan.
  package var expected: PlannedRun? { head.plan.map { PlannedRun($0) } }

  /// - Throws: `UsageError` if the file is not a plan.
  package init(path: String) throws(UsageError) {
    self.path = path
    do {
      var first: ArraySlice<UInt8>?
      try Self.eachLine(of: path) { if first == nil { first = $0 } }
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      head = try decoder.decode(Head.self, from: Data(first ?? []))
    } catch let error as UsageError {
      throw error
    } catch {
      throw UsageError(
        "\(DisplayPath.shown(path)): this is not a plan of this version of ferry\nhelp: write it with: ferry plan MANIFEST --out FILE"
      )
    }
  }

  /// Writes the plan of a preview to a file, readable only by the user.
  ///
  /// - Parameter document: what the plan expects.
  static func write(
    _ preview: RunPreview, _ job: Job, only: [String], document: PlanDocument, to path: String
  ) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var head = head(preview, job, only: only)
    head.plan = document
    let first = try encoder.encode(head)
    guard case .file(let target) = ReportDestination(path).kind else {
      throw UsageError(
        "\(DisplayPath.shown(path)): the plan cannot be written: it is not a regular file, or belongs to another user in a "
          + "world-writable folder\nhelp: specify a file to create or replace")
    }
    let code = try AtomicWrite.failure(replacing: target, access: .userOnly) { descriptor in
      let sink = DescriptorSink(descriptor)
      do {
        try sink.write(Array(first) + [0x0A])
        try preview.eachFile { try sink.write(PlannedFilesText.json($0)) }
        try sink.flush()
      } catch let failure as DescriptorSink.Failure {
        return failure.code
      }
      return nil
    }
    if let code {
      throw UsageError(
        "\(DisplayPath.shown(path)): the plan cannot be written: \(String(cString: strerror(code)))")
    }
  }

  private static func head(_ preview: RunPreview, _ job: Job, only: [String]) -> Head {
    var nodes: [String: String] = [:]
    var files = 0
    for (index, start) in preview.launchState.starts.enumerated() {
      let name = job.plan.nodes[index].name
      switch start {
      case .notSelected, .submissions: nodes[name] = "not selected"
      case .open: nodes[name] = "open"
      case .closed: nodes[name] = "done"
      case .notDue: nodes[name] = "not due"
      case .switchedOff: nodes[name] = "never"
      case .stored: nodes[name] = "stored"
      case .notStored: nodes[name] = "not stored"
      case .left: nodes[name] = "waiting for shards"
      case .skipped: nodes[name] = "skipped by shards"
      case .intended: nodes[name] = "ambiguous"
      case .upload(let table, let settled):
        files += table.count
        nodes[name] =
          "\(settled.delivered) delivered, \(settled.failedInRound) failed, \(settled.ambiguous) ambiguous, \(table.begun.count) begun"
      }
    }
    return Head(
      manifest: job.plan.manifest, path: AbsolutePath.text(of: job.path), sha256: job.sha256,
      variables: job.variables, only: only,
      round: preview.round, lastRun: preview.lastRun, notes: preview.notes.count, files: files, nodes: nodes)
  }

  /// The changes since the plan was made, one sentence for each; empty if there are none.
  func drift(from preview: RunPreview, _ job: Job) throws -> [String] {
    let now = Self.head(preview, job, only: head.only)
    var drift: [String] = []
    if now.manifest != head.manifest || now.sha256 != head.sha256 {
      drift.append("the manifest has changed: \(DisplayPath.line(job.path))")
    }
    if now.variables != head.variables {
      let names = Set(now.variables.keys).union(head.variables.keys)
        .filter { now.variables[$0] != head.variables[$0] }.sorted()
      drift.append("variables have changed: \(names.joined(separator: ", "))")
    }
    if now.round != head.round || now.lastRun != head.lastRun {
      let run = now.lastRun.flatMap { $0 == head.lastRun ? nil : "run \($0) has taken place" }
      drift.append("the journal has changed: \(run ?? "round \(now.round) is open, not round \(head.round)")")
    } else if now.nodes != head.nodes {
      let names = Set(now.nodes.keys).union(head.nodes.keys).filter { now.nodes[$0] != head.nodes[$0] }
        .sorted()
      let words = names.map { "\($0) (\(head.nodes[$0] ?? "missing") → \(now.nodes[$0] ?? "missing"))" }
      drift.append("the journal has changed: \(words.joined(separator: ", "))")
    }
    if now.notes != head.notes {
      drift.append("files were submitted, or work was canceled: \(head.notes) → \(now.notes) notes")
    }
    if let files = try fileDrift(from: preview) { drift.append(files) }
    return drift.map { DisplayPath.line($0) }
  }

  /// A sentence with the numbers of files and the first difference between the plan's files and the preview's files;
  /// `nil` if there is no difference.
  private func fileDrift(from preview: RunPreview) throws -> String? {
    var planned: [ArraySlice<UInt8>] = []
    try Self.eachLine(of: path) { planned.append(ArraySlice(Array($0))) }
    let expected = planned.dropFirst()
    var position = expected.startIndex
    var first: (old: ArraySlice<UInt8>?, new: ArraySlice<UInt8>?)?
    var count = 0
    preview.eachFile { file in
      let line = ArraySlice(PlannedFilesText.json(file).dropLast())
      let old = position < expected.endIndex ? expected[position] : nil
      if first == nil, old != line { first = (old, line) }
      count += 1
      position += 1
    }
    if first == nil, position < expected.endIndex { first = (expected[position], nil) }
    guard let first else { return nil }
    let names = [first.old, first.new].compactMap { $0.flatMap(Self.name) }
    let example = names.min { $0.utf8.lexicographicallyPrecedes($1.utf8) } ?? ""
    return
      "the files have changed: \(expected.count) → \(count) files to send; the first difference is at \(example)"
  }

  /// The upload and the file of a line.
  private static func name(_ line: ArraySlice<UInt8>) -> String? {
    struct File: Decodable {
      var node: String
      var path: String
      var pathBase64: String?
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    // A line that is not a file differs from every file.
    guard let file = try? decoder.decode(File.self, from: Data(line)) else { return nil }
    return "\(file.node)/\(DisplayPath.shown(file.path, base64: file.pathBase64))"
  }

  /// The maximum length of a line in bytes.
  private static let longestLine = 64 << 20

  private static func eachLine(of path: String, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
    let descriptor: Int32
    do throws(FileContents.Failure) {
      descriptor = try FileContents(path).regularFile()
    } catch {
      throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(error.reason)")
    }
    defer { close(descriptor) }
    if let code = try LineReader.eachLine(of: descriptor, longest: longestLine, body) {
      throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(FileLister.reason(code))")
    }
  }
}

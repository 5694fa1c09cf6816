import FerryJournal
import FerryManifest
import FerryPlan

/// Reports problems that are known only from the files and the history.
struct PlanWarnings {
  /// The number of recent runs from which the rate is computed.
  static let runs = 5

  private let job: Job
  private let launchState: LaunchState
  private let history: RunHistory
  /// The index of the job's first node in the launch state.
  private let firstNode: Int

  /// Finds the warnings for a job, given the launch state and the last runs.
  ///
  /// - Parameter firstNode: the index of the job's first node in a launch state for several jobs.
  /// - Returns: the warnings, in the order of their locations.
  static func find(
    _ job: Job, launchState: LaunchState, history: RunHistory, firstNode: Int = 0
  ) throws(JournalError) -> [Diagnostic] {
    let warnings = PlanWarnings(job: job, launchState: launchState, history: history, firstNode: firstNode)
    let uploads = Dictionary(
      job.manifest.uploads.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    var found: [Diagnostic] = []
    /// The warnings so far. A warning about one line is reported only once, even if `for_each` creates several
    /// uploads from it.
    var told: Set<String> = []
    for (index, node) in job.plan.nodes.enumerated() {
      guard case .upload(let work) = node.work, let upload = uploads[node.name] else { continue }
      found += warnings.patterns(of: upload, at: index).filter {
        told.insert("\($0.location) \($0.message)").inserted
      }
      if let warning = try warnings.slowFile(of: upload, work, node, at: index) { found.append(warning) }
    }
    return found.enumerated().sorted { ($0.element.location, $0.offset) < ($1.element.location, $1.offset) }
      .map(\.element)
  }

  /// F0704: globs in `include` that match no file.
  private func patterns(of upload: Upload, at index: Int) -> [Diagnostic] {
    guard let unmatched = launchState.unmatched[firstNode + index] else { return [] }
    return Self.patterns(of: upload, unmatched, launchState.problems[firstNode + index])
  }

  /// F0704 for an upload whose listing has ended during the run.
  ///
  /// - Parameter unmatched: the globs that matched no file, as positions in the list.
  static func patterns(
    of job: Job, _ unmatched: [Int], _ problems: ListingProblems, upload name: String
  ) -> [Diagnostic] {
    job.manifest.uploads.first { $0.name.value == name }.map { patterns(of: $0, unmatched, problems) } ?? []
  }

  private static func patterns(
    of upload: Upload, _ unmatched: [Int], _ problems: ListingProblems?
  ) -> [Diagnostic] {
    guard case .globs(let include, _) = upload.files.source,
      upload.places.include.count == include.count,
      // With any other value of `after`, the folder is normally empty between two deliveries.
      upload.after == .keep,
      // A folder that cannot be read may contain matching files.
      problems?.allSatisfy({
        $0.kind == .leavingLink || $0.kind == .foreignLink
      }) ?? true
    else { return [] }
    return unmatched.map { glob in
      Diagnostic(
        .globMatchesNothing, .warning, at: upload.places.include[glob],
        "pattern \(include[glob].quoted) does not match any file",
        help: "check the spelling and capitalization; '*' does not match a slash, but '**' does; "
          + "the root is \(upload.files.root.quoted)")
    }
  }

  /// F0703: a file whose transfer probably takes longer than its upload ID is valid.
  private func slowFile(
    of upload: Upload, _ work: UploadWork, _ node: Node, at index: Int
  ) throws(JournalError) -> Diagnostic? {
    guard let life = work.validFor, life > .zero, let location = upload.places.validFor,
      case .upload(let table, _) = launchState.starts[firstNode + index],
      let largest = table.files.sizes.indices.max(by: { table.files.sizes[$0] < table.files.sizes[$1] })
    else { return nil }
    let size = table.files.sizes[largest]
    let session = job.plan.sessions[node.session.index].identifier
    var rate = Self.rate(
      try history.samples(manifest: job.plan.manifest, upload: node.name, limit: Self.runs), for: size)
    if rate == nil { rate = Self.rate(try history.samples(session: session, limit: Self.runs), for: size) }
    guard let rate, Double(size) / rate > life.seconds else { return nil }
    let count = table.files.sizes.count { Double($0) / rate > life.seconds }
    let path = String(decoding: table.files.path(largest), as: UTF8.self).quoted
    let what = "\(path) (\(ByteText.text(size)))"
    return Diagnostic(
      .fileOutlivesUploadID, .warning, at: location,
      (count == 1
        ? "\(what) takes longer to send than its upload ID remains valid"
        : "\(count) files take longer to send than their upload IDs remain valid; the largest is \(what)")
        + ": about \(Self.text(Double(size) / rate)) at the last runs' \(ByteText.text(Int64(clamping: rate)))/s",
      help:
        "request IDs that are valid for longer and set 'valid_for' accordingly, split the file, or give the session "
        + "fewer connections")
  }

  /// The median rate of the samples that are representative of a file of this size; of two middle values,
  /// the higher one.
  static func rate(_ samples: [TransferSample], for size: Int64) -> Double? {
    let rates = samples.filter { $0.tells(of: size) }.compactMap(\.rate).sorted()
    return rates.isEmpty ? nil : rates[rates.count / 2]
  }

  /// A string such as `90 s`, `25 min`, `3 h` or `2 d`, with the limited precision of an estimate.
  static func text(_ seconds: Double) -> String {
    for (unit, length) in [("d", 86_400.0), ("h", 3_600), ("min", 60)] where seconds >= 2 * length {
      return "\(Int64(clamping: (seconds / length).rounded())) \(unit)"
    }
    return seconds < 1
      ? "\(max(1, Int64(clamping: seconds * 1000))) ms" : "\(Int64(clamping: seconds.rounded())) s"
  }
}

import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

extension Note.File {
  fileprivate init(_ files: FileColumns, _ index: Int) {
    self.init(
      path: Array(files.path(index)),
      version: Note.Version(size: files.sizes[index], modified: files.modified[index]))
  }
}

/// `ferry submit`: queues files of an upload for the current or next run of its session.
package struct Submission {
  package enum Files: Sendable {
    /// The files that the upload's `files` matches now.
    case listed
    /// Paths, absolute or relative to the current working directory.
    case named([[UInt8]])
  }

  /// The queued files. The JSON keys are a stable public interface.
  package struct Receipt: Encodable, Sendable {
    package var version = 1
    package var manifest: String
    package var upload: String
    /// The session's identifier.
    package var session: String
    package var files: Int
    package var bytes: Int64
    /// The number of these files whose delivery is ambiguous, so that no run sends them until `ferry resolve` has recorded a
    /// decision; absent if there are none.
    package var ambiguous: Int?
    /// The round that the files belong to; absent if there was nothing to submit.
    package var round: Int64?
    /// The process that holds the session and was asked to send the files.
    package var pid: Int32?
    /// The paths that could not be listed, with the reasons.
    package var problems: [String]
    /// The number of further problems; absent if there are none.
    package var problemsOmitted: Int?
  }

  private let job: Job
  private let upload: Int
  private let state: StateDirectory
  /// The shard whose state folder this is; `nil` if the manifest is not divided.
  private let shard: Shard?
  private let environment: [String: String]
  private let version: String

  /// - Parameter upload: the upload's name.
  package init(
    _ job: Job, upload: String, state: String?, environment: [String: String], version: String
  ) throws {
    self.job = job
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
    let uploads = job.plan.nodes.indices.filter { job.plan.nodes[$0].kind == .upload }
    guard let index = uploads.first(where: { job.plan.nodes[$0].name == upload }) else {
      let names = uploads.map { job.plan.nodes[$0].name }
      let help =
        names.isEmpty
        ? "the manifest has no uploads" : "its uploads are \(names.map { "'\($0)'" }.joined(separator: ", "))"
      throw UsageError(
        "manifest '\(job.plan.manifest)' has no upload '\(DisplayPath.shown(upload))'\nhelp: \(help)")
    }
    self.upload = index
    let session = job.plan.sessions[job.plan.nodes[index].session.index]
    guard session.kind != .ephemeral else {
      throw UsageError(
        "session '\(session.name)' is ephemeral: it does not store anything, so files cannot be submitted to it\n"
          + "help: set its kind to 'default' or 'background'")
    }
    if case .part(.once, _, _) = try self.state.shardPlace { throw Self.refusesFiles(self.state) }
    try ShardFolder.createPart(at: self.state, of: job, environment: environment)
    shard = try Self.shard(of: job, in: self.state)
  }

  /// The shard whose state folder this is. A file that is submitted elsewhere would never be sent, or would be sent by
  /// two shards.
  private static func shard(of job: Job, in state: StateDirectory) throws -> Shard? {
    switch try state.storedPart {
    case .shard(let shard):
      try job.checkIsOwner(of: state)
      return shard
    case .once: throw refusesFiles(state)
    case nil:
      guard try state.shardCount(of: job.plan.manifest) == nil else {
        let folder = DisplayPath.shown(Array(state.path.utf8))
        throw refused(
          "'\(job.plan.manifest)' is divided into shards in \(folder); no run would send files submitted there"
        )
      }
      return nil
    }
  }

  private static func refusesFiles(_ state: StateDirectory) -> UsageError {
    refused(
      "\(DisplayPath.shown(Array(state.path.utf8))) is the state folder of the work before and after the shards, which "
        + "has no files")
  }

  private static func refused(_ reason: String) -> UsageError {
    UsageError("\(reason)\nhelp: specify the state folder of the shard that sends the files with --state")
  }

  /// Leaves the note without waiting for the session's holder. The note is on disk when this method returns.
  package func leave(_ files: Files) throws -> Receipt {
    let now = LaunchClock.wallTime
    let listing = try listing(files)
    let session = job.plan.sessions[job.plan.nodes[upload].session.index].identifier
    var receipt = Receipt(
      manifest: job.plan.manifest, upload: job.plan.nodes[upload].name, session: session,
      files: listing.files.count, bytes: listing.files.sizes.reduce(0, +|),
      problems: listing.problems.map(\.description),
      problemsOmitted: listing.problems.omitted > 0 ? listing.problems.omitted : nil)
    guard listing.files.count > 0 else { return receipt }
    let (used, ambiguous) = try journaled(listing.files)
    receipt.ambiguous = ambiguous > 0 ? ambiguous : nil
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Every write is already synced.
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Every write is already synced.
    let row = JobRow(
      manifest: job.plan.manifest, path: AbsolutePath.text(of: job.path), variables: job.variables,
      registeredAt: now)
    try checkSame(row, history, inbox, session: session)
    // Listing the files may have taken so long that the manifest has been divided into shards meanwhile.
    try ShardFolder.register(row, history, in: state)
    // Leave the note first. Otherwise, a run that ends at this moment would close the round, because it would
    // not find the note.
    try inbox.leave(
      Note(
        session: session, kind: .submit, manifest: job.plan.manifest, node: receipt.upload,
        files: (0..<listing.files.count).map { Note.File(listing.files, $0) },
        // After the listing: the items of a run that begins later are not older than these files.
        createdAt: LaunchClock.wallTime))
    receipt.round = try history.openRound(manifest: job.plan.manifest, used: used, at: now).number
    receipt.pid = try SessionLock.holder(session: session, in: state)?.pid
    return receipt
  }

  /// Checks that the files can be found again: a note contains paths relative to the upload's root, which the manifest
  /// and its variables determine.
  private func checkSame(
    _ row: JobRow, _ history: RunHistory, _ inbox: Inbox, session: String
  ) throws {
    guard let known = try history.job(manifest: row.manifest),
      known.path != row.path || known.variables != row.variables
    else { return }
    let path = DisplayPath.shown(Array(known.path.utf8))
    let name = "manifest '\(row.manifest)' (\(path), or with different variables)"
    let isOpen = try history.latestRound(manifest: row.manifest).map { $0.closedAt == nil } ?? false
    if isOpen, let holder = try SessionLock.holder(session: session, in: state) {
      throw UsageError(
        "\(holder.pid.map { "process \($0)" } ?? "another process") may be sending files of \(name)\n"
          + "help: wait until it has ended, or give the two manifests different names")
    }
    if try inbox.notes(session: session).contains(where: { $0.kind == .submit && $0.manifest == row.manifest }
    ) {
      throw UsageError(
        "files submitted to \(name) have not been sent yet\n"
          + "help: send them first (ferry resume), or give the two manifests different names")
    }
  }

  /// The last round in the manifest's journals, and the number of the files that are ambiguous.
  private func journaled(_ files: FileColumns) throws -> (lastRound: Int64, ambiguous: Int) {
    let journals = try journalsForReading()
    defer { journals.close() }
    var ambiguous: Set<[UInt8]> = []
    let node = job.plan.nodes[upload]
    if case .upload(let work) = node.work, let journal = journals.all[node.session.index] {
      let row = try journal.node(
        manifest: job.plan.manifest, name: node.name, kind: .upload,
        origin: work.first.origin?.description ?? "")
      ambiguous = Set(try journal.ambiguousItems(node: row.id).map(\.path))
    }
    let count = ambiguous.isEmpty ? 0 : (0..<files.count).count { ambiguous.contains(Array(files.path($0))) }
    return (try journals.lastRound(of: job.plan.manifest), count)
  }

  private func journalsForReading() throws(JournalError) -> SessionJournals {
    try .openForReading(job.plan, in: state, known: RunHistory.knownJournals(in: state))
  }

  private func listing(_ files: Files) throws -> Listing {
    guard case .upload(let work) = job.plan.nodes[upload].work else {
      preconditionFailure("files are submitted only to uploads")
    }
    var lister = try FileLister(
      work.files, after: work.after, baseFolder: job.folder, home: environment["HOME"])
    lister.stateFolder = try StateFolder(of: state)
    try RunPaths([job], environment: environment, state: state).describeList(of: work, job, to: &lister)
    switch files {
    case .listed:
      lister.filter = shard.map { ShardFilter($0, upload: job.plan.nodes[upload].name) }
      guard case .list = work.files.source else { return try lister.list(nil, nil) }
      let journals = try journalsForReading()
      defer { journals.close() }
      let node = job.plan.nodes[upload]
      let journal = journals.all[node.session.index]
      let row = try journal?.node(
        manifest: job.plan.manifest, name: node.name, kind: .upload,
        origin: work.first.origin?.description ?? "")
      return try lister.list(journal, row)
    case .named(let paths):
      // If the root cannot be opened, the lister reports the reason.
      let folder = try? SourceRoot(lister.root)
      let listing = try lister.named(paths.map { Self.absolute($0, root: lister.root, folder) })
      guard listing.problems.isEmpty else { throw refused(listing.problems, root: lister.root) }
      try checkShard(of: listing.files)
      return listing
    }
  }

  /// Checks that no file belongs to another shard, which sends it too.
  private func checkShard(of files: FileColumns) throws {
    guard let shard else { return }
    let hash = ItemHash(upload: job.plan.nodes[upload].name)
    for file in 0..<files.count {
      let number = hash.number(of: files.path(file), among: shard.count)
      guard number != shard.number, let other = Shard(number, of: shard.count) else { continue }
      let folder = try state.sibling(.shard(other)).path
      throw UsageError(
        "\(DisplayPath.shown(Array(files.path(file)))) belongs to shard \(number)/\(shard.count), not to "
          + "\(shard.number)/\(shard.count)\n"
          + "help: nothing was submitted; submit this file with --state \(ShellWord.quoted(folder))")
    }
  }

  private func refused(_ problems: ListingProblems, root: [UInt8]) -> UsageError {
    let name = job.plan.nodes[upload].name
    let root = DisplayPath.shown(root)
    var lines = problems.prefix(10).map { problem in
      let path = DisplayPath.shown(problem.path)
      return switch problem.kind {
      case .outsideRoot: "\(path) is not inside \(root), the root of upload '\(name)'"
      case .permission, .notRegular, .missing, .leavingLink, .foreignLink, .putAway, .stateFolder,
        .unknownState, .temporary, .other:
        "\(path): \(problem.message)"
      }
    }
    if problems.count > 10 { lines.append("… and \(problems.count - 10) more") }
    return UsageError(
      lines.joined(separator: "\n") + "\nhelp: nothing was submitted; specify regular files inside \(root)")
  }

  /// The absolute path of a file.
  ///
  /// A path through symbolic links, such as the shell's working directory, may also lead into the root. If
  /// so, the root replaces the beginning of the path. The rest of the path keeps its links; the listing
  /// checks their owners.
  private static func absolute(_ path: [UInt8], root: [UInt8], _ folder: SourceRoot?) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let path =
      path.first == slash ? path : Array(FileManager.default.currentDirectoryPath.utf8) + [slash] + path
    guard let folder, !FileLister.isInside(path, root), !FileLister.isInside(path, folder.real) else {
      return path
    }
    for end in path.indices.dropFirst() where path[end] == slash {
      guard let beginning = try? SourceRoot(Array(path[..<end])), beginning.isSameFolder(as: folder) else {
        continue
      }
      return folder.real + path[end...]
    }
    return path
  }
}

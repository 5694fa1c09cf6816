import Foundation
import Testing

/// A job that is killed repeatedly until it is complete. After each kill, the state of the journal and the requests
/// that the server has received are recorded and checked.
final class KillTrial {
  let kind: KillKind
  let job: Workspace
  let receiver: ReceiverProcess
  /// Whether no launch has been killed yet.
  var isNew = true
  private let title: String
  private let names: [String]
  private let digests: [String: String]
  /// The number of upload IDs that had been issued for each file when its ID was recorded. It must not grow.
  private var allocations: [String: Int] = [:]
  /// The number of times that each file had been sent when its transfer was recorded. It must not grow.
  private var transfers: [String: Int] = [:]
  /// The files that the journal has recorded as done, which they must remain.
  private var done: Set<String> = []
  /// The files for which an issue has been recorded, so that later checks do not record it again.
  private var told: Set<String> = []

  /// - Parameter count: the number of files.
  init(_ kind: KillKind, files count: Int, lateness: Double, seed: UInt64) async throws {
    self.kind = kind
    title = "\(kind), seed \(seed)"
    receiver = try await ReceiverProcess.start(kind.options)
    let names = (0..<count).map { "f\($0)" }
    job = try Workspace(kind.manifest(server: receiver.url, names: names))
    var random = SplitMix(seed: seed)
    let folder = job.folder
    _ = try folder.makeFolder("fetched")
    for (index, name) in names.enumerated() {
      let size = index.isMultiple(of: 37) ? 0 : Int(random.next() % 3000)
      try folder.write(random.bytes(size), to: "files/\(name)")
    }
    self.names = names
    digests = try await TestFiles.digests(of: names, under: folder.path("files"))
    if kind == .fetches { try await stock() }
    for fault in kind.faults(lateness: lateness) { try await receiver.add(spec: fault) }
  }

  /// Stores the files on the server before they are fetched.
  private func stock() async throws {
    let text = KillKind.puts.manifest(server: receiver.url, names: names)
    let source = try Workspace(text.replacing("root: files", with: "root: \(job.folder.path("files"))"))
    let command = try await source.ferry("run", "job.yaml", "--quiet")
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
  }

  /// Checks the requests at the server and the journal after a kill.
  func check(_ moment: String) async throws {
    let received = try await receiver.received()
    let recorded = try await RecordedItems.read(session: kind.session, of: job)
    #expect(recorded.integrity == "ok", "\(title), \(moment)")
    let states = kind == .fetches ? recorded.nodes : recorded.states
    judge(states, received, moment)
    note(states, received)
    // `ferry status` must report the numbers that the journal contains.
    let status = try await job.status().session(kind.session)
    if kind != .fetches, let items = status?.node("files")?.items {
      // If the previous run ended before the kill, a new round reports its files as done before.
      let done = items["done", default: 0] + items["done_before", default: 0]
      #expect(done == states.values.count { $0 == .done }, "\(title), \(moment)")
      #expect(items["ambiguous"] == states.values.count { $0 == .ambiguous }, "\(title), \(moment)")
    }
  }

  private func judge(_ states: [String: RecordedItems.State], _ received: Received, _ moment: String) {
    let deliveries = deliveries(received)
    let transfers = transfers(received)
    let uploads = received.byName
    for name in names where !told.contains(name) {
      let state = states[name]
      let count = deliveries[name, default: 0]
      var wrongs: [String] = []
      if kind != .puts, kind != .fetches, count > 1 { wrongs.append("was delivered \(count) times") }
      if state == .done, count == 0 { wrongs.append("is on record as done and was not delivered") }
      if state == .failed || state == .cancelled { wrongs.append("ended as \(state.map { "\($0)" } ?? "")") }
      if done.contains(name), state != .done { wrongs.append("was on record as done and is so no more") }
      if let known = allocations[name], uploads[name]?.allocations != known {
        wrongs.append("had an upload ID and got another")
      }
      if let known = self.transfers[name], transfers[name] != known {
        wrongs.append("was on record and went again")
      }
      guard !wrongs.isEmpty else { continue }
      told.insert(name)
      Issue.record("\(title), \(moment): \(name) \(wrongs.joined(separator: ", "))")
    }
  }

  private func note(_ states: [String: RecordedItems.State], _ received: Received) {
    let transfers = transfers(received)
    let uploads = received.byName
    for (name, state) in states {
      if state == .done { done.insert(name) }
      let hasID = kind == .uploads && [.allocated, .transferred].contains(state)
      if let upload = uploads[name], state == .done || hasID {
        allocations[name] = allocations[name] ?? upload.allocations
      }
      if state == .done || state == .ambiguous || (kind == .uploads && state == .transferred) {
        self.transfers[name] = self.transfers[name] ?? transfers[name]
      }
    }
  }

  /// How often each file was delivered.
  private func deliveries(_ received: Received) -> [String: Int] {
    switch kind {
    case .uploads, .expiring: received.byName.mapValues(\.commits)
    case .puts: received.puts
    case .posts: Dictionary(grouping: received.inbox, by: \.name).mapValues(\.count)
    case .fetches: Dictionary(uniqueKeysWithValues: names.filter(isFetched).map { ($0, 1) })
    }
  }

  /// How often each file's bytes were transferred.
  private func transfers(_ received: Received) -> [String: Int] {
    guard kind == .uploads || kind == .expiring else {
      return kind == .fetches ? receiver.gets : deliveries(received)
    }
    return received.byName.mapValues(\.contents)
  }

  private func isFetched(_ name: String) -> Bool {
    // The file must be either absent or complete.
    guard let bytes = try? Data(contentsOf: URL(filePath: job.folder.path("fetched/\(name)"))) else {
      return false
    }
    let whole = try? Data(contentsOf: URL(filePath: job.folder.path("files/\(name)")))
    #expect(bytes == whole, "\(title): \(name) is not what it should be")
    return true
  }

  /// Runs the job to its end, and compares the listing of the server, the journal and `ferry status`.
  func finish() async throws {
    var (command, report) = try await job.run()
    // Because of the server's faults, another run may be necessary.
    for _ in 0..<5 where !report.run.roundClosed { (command, report) = try await job.run() }
    #expect(report.run.roundClosed, "\(title): \(command.stdout)\(command.stderr)")
    try await check("at the end")

    let recorded = try await RecordedItems.read(session: kind.session, of: job)
    let received = try await receiver.received()
    let ambiguous = recorded.names(.ambiguous)
    #expect(command.status == (ambiguous.isEmpty ? 0 : 1), "\(title): \(command.stdout)\(command.stderr)")
    // If a kill left a commit open, and its ID has expired in the meantime, the server's response proves nothing.
    #expect(ambiguous.isEmpty || kind == .posts || kind == .expiring, "\(title): \(ambiguous)")
    if kind != .fetches {
      #expect(Set(recorded.states.keys) == Set(names), "\(title)")
      let items = report.totals.items
      #expect(items.done + (items.unchanged ?? 0) == names.count - ambiguous.count, "\(title)")
      #expect(items.ambiguous == ambiguous.count, "\(title)")
    } else {
      let parts = try FileManager.default.contentsOfDirectory(atPath: job.folder.path("fetched"))
      #expect(Set(parts) == Set(names), "\(title): the folder contains no other files")
    }
    let deliveries = deliveries(received)
    for name in names where !ambiguous.contains(name) {
      let count = deliveries[name, default: 0]
      #expect(kind == .puts ? count >= 1 : count == 1, "\(title): \(name) was delivered \(count) times")
    }
    for upload in received.uploads where !ambiguous.contains(upload.name) {
      #expect(upload.sha256 == digests[upload.name], "\(title): \(upload.name)")
    }
    for file in received.files { #expect(file.sha256 == digests[file.name], "\(title): \(file.name)") }
    for post in received.inbox { #expect(post.sha256 == digests[post.name], "\(title): \(post.name)") }

    // No work remains, so the next run sends no request.
    if kind != .fetches {
      let again = try await job.run()
      #expect(again.command.status == (ambiguous.isEmpty ? 0 : 1), "\(title): \(again.command.stdout)")
      #expect(try await receiver.received().requests == received.requests, "\(title)")
    }
    await receiver.stop()
  }
}

import Foundation
import Testing

/// SIGKILL at random moments of a job with tokens, upload IDs, uploads and commits, against a server with faults.
@Suite(.serialized) struct `A job that is killed again and again` {
  /// How a server is made, and what may be asked of ferry beside it.
  struct Server: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    /// How long ferry may use an upload ID.
    var validFor: String
    /// Whether upload IDs outlive the job, so that every one that was written down is used again.
    var keepsIDs: Bool
    var seed: UInt64
  }

  static let servers = [
    Server(
      testDescription: "tokens and upload IDs live long", options: [], validFor: "1h", keepsIDs: true,
      seed: 2026),
    Server(
      testDescription: "tokens and upload IDs expire in between",
      options: ["--token-life", "1.5", "--upload-life", "1"], validFor: "1h", keepsIDs: false, seed: 2027),
  ]

  /// FERRY_SOAK_KILLS says how many; scripts/soak asks for a hundred.
  private static let kills =
    ProcessInfo.processInfo.environment["FERRY_SOAK_KILLS"].flatMap(Int.init) ?? 10

  private static let session = "e2e.uploads"

  /// In seconds: so late comes each answer, so that all the kills fit into the job.
  private static let lateness = 0.004 + Double(kills) / 10_000

  private static let faults = [
    "allocate:delay=\(lateness)", "content:delay=\(lateness)", "commit:delay=\(lateness)",
    "content:every=23,drop=before", "content:every=19,drop=after",
    "commit:every=17,drop=before,cut=close", "commit:every=13,drop=after",
    "allocate:every=29,status=500", "content:every=31,status=500", "commit:every=37,status=503",
  ]

  @Test(arguments: servers)
  func `commits every file once and sends none again whose outcome was recorded`(_ server: Server)
    async throws
  {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--client-secret", Workspace.secret] + server.options, faults: Self.faults)
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2, refresh: "before_expiry: 300ms",
        JobText.uploadIDs(validFor: server.validFor)))
    let names = try TestFiles.writeMany(300, to: job.folder, under: "files", seed: server.seed)

    var random = SplitMix(seed: server.seed)
    var record = Record(keepsIDs: server.keepsIDs)
    var hits = 0
    for kill in 1...Self.kills {
      let run = try job.start(["run", "job.yaml", "--quiet"])
      try await Task.sleep(for: Self.delay(&random))
      run.signal(SIGKILL)
      let end = await run.end()
      // It may have come to its end before.
      #expect([0, 128 + SIGKILL].contains(end.status), "kill \(kill): \(end.stderr)")
      hits += end.status == 0 ? 0 : 1
      let received = try await receiver.received()
      record.check(received, "after kill \(kill)")
      record.note(
        try await RecordedItems.read(session: Self.session, of: job), received: received)
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(hits * 10 >= Self.kills * 7, "only \(hits) of \(Self.kills) kills came in time")
    #expect(report.run.roundClosed)

    let received = try await receiver.received()
    record.check(received, "at the end")
    let uploads = received.byName
    let digests = try await TestFiles.digests(of: names, under: job.folder.path("files"))
    #expect(Set(uploads.keys) == Set(names))
    for name in names {
      let upload = uploads[name]
      #expect(upload?.commits == 1, "\(name)")
      #expect(upload?.sha256 == digests[name], "\(name)")
    }

    // Nothing is left to do, and nothing is asked.
    let again = try await job.run()
    #expect(again.command.status == 0)
    #expect(try await receiver.received().requests == received.requests)
    await receiver.stop()
  }

  /// A run's life before it is killed, its start included: time for some requests, but not for all.
  private static func delay(_ random: inout SplitMix) -> Duration {
    .milliseconds(Int.random(in: 20...(150 + 2500 / kills), using: &random))
  }

  /// What the journal said after some kill, and what the server had been asked of it then.
  private struct Record {
    let keepsIDs: Bool
    /// How often an upload ID was given out for a file whose ID was on record.
    private var allocations: [String: Int] = [:]
    /// How often the bytes of a file came whose transfer was on record.
    private var contents: [String: Int] = [:]
    /// The files of which something was told; it stays true at every later look.
    private var told: Set<String> = []

    init(keepsIDs: Bool) { self.keepsIDs = keepsIDs }

    mutating func note(_ items: RecordedItems, received: Received) {
      let uploads = received.byName
      for (name, state) in items.states {
        guard let upload = uploads[name] else { continue }
        let isDone = state == .done
        if isDone || (keepsIDs && state.rawValue >= RecordedItems.State.allocated.rawValue) {
          allocations[name] = allocations[name] ?? upload.allocations
        }
        if isDone || (keepsIDs && state == .transferred) {
          contents[name] = contents[name] ?? upload.contents
        }
      }
    }

    mutating func check(_ received: Received, _ moment: String) {
      for (name, upload) in received.byName where !told.contains(name) {
        var wrongs: [String] = []
        if upload.commits > 1 { wrongs.append("was committed again") }
        if let count = allocations[name], upload.allocations != count {
          wrongs.append("had an upload ID and got another")
        }
        if let count = contents[name], upload.contents != count {
          wrongs.append("was on record and was sent again")
        }
        guard !wrongs.isEmpty else { continue }
        told.insert(name)
        Issue.record("\(moment): \(name) \(wrongs.joined(separator: ", "))")
      }
    }
  }
}

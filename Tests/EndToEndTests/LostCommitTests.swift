import Foundation
import Testing

/// A commit that was executed, but whose response was lost. No retry in its launch could determine the outcome.
/// Whatever happens before the next launch, the server must execute the commit only once.
@Suite struct `A commit with an unknown outcome` {
  private static let keys = [
    "already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }", JobText.probe,
  ]
  private static let noRetry = "retry: { limit: 0, initial: 10ms, max: 10ms }"

  private let receiver: ReceiverProcess
  private let job: Workspace

  init() async throws {
    receiver = try await ReceiverProcess.start()
    job = try Workspace("")
    try job.write("one", to: "1.txt")
  }

  private func manifest(_ key: String, _ edit: (String) -> String = { $0 }) throws {
    let text = JobText.text(server: receiver.url, JobText.uploadIDs(retry: Self.noRetry, recognized: key))
    try job.write(manifest: edit(text))
  }

  private func lose(_ key: String) async throws {
    try manifest(key)
    try await receiver.add(spec: "commit:drop=after")
    #expect(try await job.run().command.status == 5)
    try await receiver.clearFaults()
    #expect(try await receiver.received().commits == 1)
  }

  private func expectOneCommit(ambiguous: Int = 0) async throws {
    let received = try await receiver.received()
    #expect(received.commits == 1, "\(receiver.log)")
    #expect(received.uploads.count == 1, "\(receiver.log)")
    let items = try await job.status().session("e2e.uploads")?.node("files")?.items
    #expect(items?["ambiguous"] == ambiguous)
    #expect(items?["done"] == 1 - ambiguous)
  }

  @Test(arguments: keys)
  func `is completed before a file that changed is sent`(_ key: String) async throws {
    try await lose(key)
    try job.write("two", to: "1.txt")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    try await expectOneCommit()
    // The changed file is sent in the next round.
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().commits == 2)
  }

  @Test(arguments: keys)
  func `is ambiguous if the manifest captures its upload ID under another name`(_ key: String)
    async throws
  {
    try await lose(key)
    try manifest(key) {
      $0.replacing("capture: { id:", with: "capture: { nr:").replacing(
        "${allocate.id}", with: "${allocate.nr}")
    }
    for _ in 0..<2 { #expect(try await job.run().command.status == 1) }
    try await expectOneCommit(ambiguous: 1)
  }

  @Test(arguments: keys)
  func `is ambiguous if the manifest no longer identifies a repetition`(_ key: String) async throws {
    try await lose(key)
    try manifest(key) { $0.replacing("      \(key)\n", with: "") }
    for _ in 0..<2 { #expect(try await job.run().command.status == 1) }
    try await expectOneCommit(ambiguous: 1)
  }

  @Test(arguments: keys)
  func `waits for an edit to be undone`(_ key: String) async throws {
    try await lose(key)
    try manifest(key) { $0.replacing("  files:\n    session", with: "  other:\n    session") }
    try FileManager.default.removeItem(atPath: job.folder.path("files/1.txt"))
    #expect(try await job.run().command.status == 0)
    try manifest(key)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    try await expectOneCommit()
  }

  @Test(arguments: keys)
  func `is ambiguous if it is cancelled`(_ key: String) async throws {
    try await lose(key)
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    #expect(try await job.run().command.status == 1)
    try await expectOneCommit(ambiguous: 1)
  }

  @Test(arguments: keys)
  func `is counted if it is dropped`(_ key: String) async throws {
    try await lose(key)
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 2 && refused.stderr.contains("files/1.txt of e2e"), "\(refused.stderr)")
    let reset = try await job.ferry("reset", "e2e.uploads", "--drop-unanswered")
    #expect(reset.stdout.contains("1 unanswered step"), "\(reset.stdout)")
  }

  @Test(arguments: keys.dropLast())
  func `is ambiguous if its time has run out`(_ key: String) async throws {
    try manifest(key) {
      $0.replacing("kind: background", with: "kind: background\n    timeout_for_resource: 1s")
    }
    try await receiver.add(fault: "{\"route\": \"commit\", \"delay\": 4}")
    #expect(try await job.run().command.status == 1)
    try await receiver.clearFaults()
    #expect(try await job.run().command.status == 1)
    let received = try await receiver.received { $0.commits == 1 }
    #expect(received.uploads.count == 1)
  }

  @Test(arguments: keys.dropLast())
  func `is ambiguous if the server forgets its upload ID`(_ key: String) async throws {
    try await lose(key)
    try await receiver.add(spec: "commit:status=404")
    #expect(try await job.run().command.status == 1)
    try await receiver.clearFaults()
    try await expectOneCommit(ambiguous: 1)
  }
}

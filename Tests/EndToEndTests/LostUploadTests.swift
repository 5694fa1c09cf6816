import Foundation
import Testing

/// A resumable upload with POST that the server completed, but whose response was lost. Whatever happens before the next
/// launch, the file must not be sent a second time.
@Suite struct `A completed upload whose response was lost` {
  private let server: ResumableServer
  private let job: Workspace

  init() async throws { try await self.init(#"{"faults": {"1": ["silent", 0]}}"#) }

  private init(_ options: String) async throws {
    server = try await ResumableServer.start(options)
    job = try Workspace("")
    try write(protocol: "resumable, interop_version: 6")
    try job.write("content", to: "f")
  }

  private func write(protocol name: String) throws {
    try job.write(
      manifest: """
        version: 1
        name: lost
        sessions: { s: { kind: background } }
        uploads:
          u:
            session: s
            files: { root: files }
            retry: { limit: 0 }
            transfer: { protocol: \(name), request: { method: POST, url: "\(server.url)/made" } }

        """)
  }

  private func lose() async throws {
    let (command, _) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(try await server.log().creations.count == 1)
  }

  private func expectOneCreation(_ state: String) async throws {
    let items = try await job.status().session("lost.s")?.node("u")?.items
    #expect(items?[state] == 1, "\(items ?? [:])")
    #expect(try await server.log().creations.count == 1)
  }

  @Test func `is found by the next run`() async throws {
    try await lose()
    #expect(try await job.run().command.status == 0)
    try await expectOneCreation("done")
  }

  @Test func `is ambiguous after ferry cancel`() async throws {
    try await lose()
    let cancel = try await job.ferry("cancel", "lost.s")
    #expect(cancel.status == 0, "\(cancel.stdout)\(cancel.stderr)")
    for _ in 0..<2 { #expect(try await job.run().command.status == 1) }
    try await expectOneCreation("ambiguous")
  }

  @Test(arguments: [["reset", "lost.s"], ["run", "job.yaml", "--fresh"]])
  func `is named instead of dropped`(_ command: [String]) async throws {
    try await lose()
    let refused = try await job.start(command).end()
    #expect(refused.status == 2, "\(refused.stdout)\(refused.stderr)")
    #expect(refused.stderr.contains("u/f of lost, session lost.s: its transfer step"), "\(refused.stderr)")
    #expect(try await job.run().command.status == 0)
    try await expectOneCreation("done")
  }

  @Test func `is ambiguous if another protocol cannot ask for it`() async throws {
    try await lose()
    try write(protocol: "post")
    for _ in 0..<2 { #expect(try await job.run().command.status == 1) }
    try await expectOneCreation("ambiguous")
  }

  @Test(arguments: ["other content", "content"])
  func `is ambiguous if the file has changed`(_ text: String) async throws {
    try await lose()
    try job.write(text, to: "f")
    for status: Int32 in [4, 1] { #expect(try await job.run().command.status == status) }
    try await expectOneCreation("ambiguous")
  }

  /// The server cannot be asked about the old file on behalf of another one.
  @Test func `is ambiguous if another file with the same size and time has its name`() async throws {
    try await lose()
    let path = job.folder.path("files/f")
    let times = try FileTimes(of: path)
    try job.write("another", to: "new")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: job.folder.path("files/new"), toPath: path)
    try times.restore()
    #expect(try await job.run().command.status == 1)
    try await expectOneCreation("ambiguous")
  }

  /// The server has removed the completed upload, and nobody but the user knows what became of the file.
  @Test func `is sent again if the user decides so`() async throws {
    let test = try await Self(#"{"forget": true, "faults": {"1": ["silent", 0]}}"#)
    try await test.lose()
    #expect(try await test.job.run().command.status == 1)
    try await test.expectOneCreation("ambiguous")
    let resolved = try await test.job.ferry("resolve", "files/f", "retry", "--manifest", "job.yaml")
    #expect(resolved.status == 0, "\(resolved.stderr)")
    let (command, report) = try await test.job.run()
    #expect(command.status == 0 && report.totals.items.done == 1, "\(command.stdout)\(command.stderr)")
    #expect(try await test.server.log().creations.count == 2)
  }

  /// No byte of the file's end was sent, so nothing can have been delivered.
  @Test func `is not assumed if the upload was interrupted before its end`() async throws {
    let test = try await Self(#"{"faults": {"1": ["drop", 3]}, "slow": 0.01}"#)
    // More than the buffers of the sockets can hold.
    try test.job.write(String(repeating: "x", count: 64_000_000), to: "f")
    try await test.lose()
    let reset = try await test.job.ferry("reset", "lost.s")
    #expect(reset.status == 0, "\(reset.stdout)\(reset.stderr)")
  }
}

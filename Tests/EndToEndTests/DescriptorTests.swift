import Foundation
import Testing

/// How ferry behaves depending on the standard input, output and error, and on the limit of open files.
@Suite struct `A process that starts` {
  private func list(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts)
        .replacing("{ root: files }", with: "{ root: files, list: \"-\" }"))
    try job.write("a", to: "a.txt")
    return job
  }

  private func many(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 100, JobText.puts))
    for number in 0..<130 { try job.write("file \(number)", to: "\(number).txt") }
    return job
  }

  /// - Parameter line: a shell command line that runs ferry.
  private func shell(_ job: Workspace, _ line: String) async throws -> Command {
    let run = "\(Product.path("ferry")) run job.yaml"
    return try await job.start(["-c", line.replacing("FERRY", with: run)], program: "/bin/sh").end()
  }

  @Test func `with an unreadable list reports it and exits with 2`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try list(receiver)
    let end = try await shell(job, "FERRY < .")
    #expect(end.status == 2, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("cannot read the list from standard input: Is a directory"))
    let whole = try await shell(job, "echo a.txt | FERRY")
    #expect(whole.status == 0, "\(whole.stderr)")
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test(arguments: ["FERRY <&-", "FERRY <&- >&-", "FERRY <&- >&- 2>&-", "FERRY < /dev/null >&-"])
  func `with a closed standard input reads an empty list, and none of its own files`(_ line: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try list(receiver)
    let end = try await shell(job, line)
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.isEmpty, "\(end.stderr)")
    #expect(try await receiver.received().requests == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `with too low a limit on open files reports it and exits with 70`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try many(receiver)
    let end = try await shell(job, "ulimit -n 12; FERRY")
    #expect(end.status == 70, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("more files can be opened at a time"), "\(end.stderr)")
    #expect(end.stderr.contains("help: ") && end.stderr.contains("ulimit -n"), "\(end.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test(arguments: [36, 64])
  func `with a low limit on open files loses no items`(_ limit: Int) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02"])
    let job = try many(receiver)
    let end = try await shell(job, "ulimit -n \(limit); FERRY")
    #expect([0, 5].contains(end.status), "\(end.status) \(end.stdout)\(end.stderr)")
    let again = try await job.run()
    #expect(again.command.status == 0, "\(again.command.stdout)\(again.command.stderr)")
    #expect(again.report.totals.items.done == 130)
    #expect(try await receiver.received().puts.values.allSatisfy { $0 == 1 })
  }

  @Test func `may open as many files as the system allows, whatever limit the shell sets`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02"])
    let job = try many(receiver)
    let end = try await shell(job, "ulimit -Sn 20; FERRY")
    #expect(end.status == 0, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(try await receiver.received().puts.count == 130)
  }
}

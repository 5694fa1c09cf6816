import Foundation
import Testing

/// What a process is started with: its standard input, output and error.
@Suite struct `A process that starts` {
  private func list(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts)
        .replacing("{ root: files }", with: "{ root: files, list: \"-\" }"))
    try job.write("a", to: "a.txt")
    return job
  }

  /// - Parameter line: a line of sh with ferry's command in it.
  private func shell(_ job: Workspace, _ line: String) async throws -> Command {
    let run = "\(Product.path("ferry")) run job.yaml"
    return try await job.start(["-c", line.replacing("FERRY", with: run)], program: "/bin/sh").end()
  }

  @Test func `with a list that cannot be read says so, and ends with 2`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try list(receiver)
    let end = try await shell(job, "FERRY < .")
    #expect(end.status == 2, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("cannot read the list from the standard input: Is a directory"))
    let whole = try await shell(job, "echo a.txt | FERRY")
    #expect(whole.status == 0, "\(whole.stderr)")
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test(arguments: ["FERRY <&-", "FERRY <&- >&-", "FERRY <&- >&- 2>&-", "FERRY < /dev/null >&-"])
  func `with a standard input that is closed has an empty list, and nothing of its own`(_ line: String)
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
}

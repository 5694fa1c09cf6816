import Foundation
import Testing

/// ferry's memory has secrets in it: it is in no core dump, unless that is asked for.
@Suite struct `A run that goes down` {
  /// The shell's word for a core dump, whatever takes it (core_pattern, core(5)).
  private func dumpsCore(_ environment: [String: String]) async throws -> Bool {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    let script = "ulimit -c unlimited; \"$0\" run job.yaml & echo \"process $!\"; wait $!"
    let shell = try job.start(
      ["-c", script, Product.path("ferry")], program: "bash",
      // The handler that `swift test` asks for would take the signal, and the run would survive it.
      environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 })
    let process = try #require(Int32(try await shell.line(after: "process ")))
    _ = try await receiver.received { $0.files.count >= 1 }
    kill(process, SIGABRT)
    let end = await shell.end()
    #expect(end.status == 134, "\(end.status) \(end.stderr)")
    return end.stderr.contains("core dumped")
  }

  @Test(.enabled("bash is needed") { RunningCommand.find("bash") != nil })
  func `leaves no core dump, unless the environment asks for one`() async throws {
    #expect(try await !dumpsCore(["FERRY_ALLOW_CORE_DUMPS": ""]))
    guard try await dumpsCore(["FERRY_ALLOW_CORE_DUMPS": "1"]) else {
      FileHandle.standardError.write(
        Data("\n!!!! SKIPPED: nothing dumps core here; FERRY_ALLOW_CORE_DUMPS is not tested\n\n".utf8))
      return
    }
  }
}

import Foundation
import Testing

/// ferry's memory contains secrets, so a core dump is written only if an environment variable allows it.
@Suite struct `A run that crashes` {
  /// Whether the shell reports a core dump, wherever the kernel writes it (core_pattern, core(5)).
  private func dumpsCore(_ environment: [String: String]) async throws -> Bool {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    let script = "ulimit -c unlimited; \"$0\" run job.yaml & echo \"process $!\"; wait $!"
    let shell = try job.start(
      ["-c", script, Product.path("ferry")], program: "bash",
      // The handler that `swift test` enables would catch the signal, and the run would survive.
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

  /// Opens `/proc/PID/environ` as early as possible after execve(2), and prints how often it could read the secret.
  private static let reader = """
    import os, sys
    reads = 0
    for _ in range(50):
        pid = os.fork()
        if pid == 0:
            os.execve(sys.argv[1], [sys.argv[1], "--version"], {"SECRET": "mellon"})
        while open(f"/proc/{pid}/comm").read().strip() != "ferry": pass
        try:
            reads += "mellon" in open(f"/proc/{pid}/environ").read()
        except OSError:
            pass
        if os.waitpid(pid, 0)[1] != 0: sys.exit("ferry failed")
    print(reads)
    """

  /// If the user cannot read a program, the kernel makes its process non-dumpable (execve(2)). With mode 0755, this
  /// script reads the secret in most attempts.
  @Test(.enabled("only root may become another user", { geteuid() == 0 }))
  func `hides its environment from its own user from the start if only root may read the program`()
    async throws
  {
    let job = try Workspace("")
    let program = job.folder.path("ferry")
    try FileManager.default.copyItem(atPath: Product.path("ferry"), toPath: program)
    for (path, mode) in [(job.folder.url.path, 0o755), (program, 0o711)] as [(String, mode_t)] {
      #expect(chmod(path, mode) == 0)
    }
    let words = [
      "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", Self.reader, program,
    ]
    let end = try await job.start(words, program: "setpriv").end()
    #expect(end.status == 0 && end.stdout.hasSuffix("\n0\n"), "\(end.stdout)\(end.stderr)")
  }
}

import Foundation
import Testing

@testable import FerryProcess

@Suite struct `A program that is started` {
  private func shell(_ script: String, environment: [String: String] = [:], folder: String? = nil) -> String?
  {
    ChildProgram(path: "/bin/sh", arguments: ["-c", script], environment: environment, folder: folder)
      .standardOutput(within: .seconds(20)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `has the given environment and folder`() {
    #expect(shell("echo \"$A-$HOME-$PWD\"", environment: ["A": "1"], folder: "/usr") == "1--/usr\n")
  }

  @Test func `is waited for until it ends or the time has passed`() throws {
    func ending(_ script: String, _ limit: Duration = .seconds(20)) throws -> ChildProgram.Ending? {
      let process = try ChildProgram(path: "/bin/sh", arguments: ["-c", script], environment: [:]).start()
      let limit = limit.components.seconds * 1_000_000_000
      guard let ending = ChildProgram.wait(for: process, until: DeadlineCondition.now + limit) else {
        kill(process, SIGKILL)
        _ = ChildProgram.wait(for: process, until: DeadlineCondition.now + 20_000_000_000)
        return nil
      }
      return ending
    }
    #expect(try ending("exit 0") == .exited(status: 0))
    #expect(try ending("exit 255") == .exited(status: 255))
    #expect(try ending("kill -15 $$") == .terminated(signal: 15))
    // A parent that does not wait for its children leaves this setting to the programs that it starts.
    signal(SIGCHLD, SIG_IGN)
    #expect(try ending("exit 3") == .exited(status: 3))
    #expect(try ending("exec sleep 30", .zero) == nil)
  }

  @Test func `inherits no descriptor, whoever opened it without O_CLOEXEC`() {
    let leak = open("/dev/null", O_RDONLY)
    let high = fcntl(leak, F_DUPFD, 200)
    defer {
      close(leak)
      close(high)
    }
    // `*` also matches the descriptor with which the shell reads the folder. `-e` excludes that descriptor, which is
    // closed by then.
    let list = shell("cd /proc/self/fd 2>/dev/null || cd /dev/fd; for f in *; do [ -e $f ] && echo $f; done")
    #expect(
      list?.split(separator: "\n").allSatisfy { ["0", "1", "2"].contains($0) } == true, "\(list ?? "")")
  }

  @Test func `has its own session, and default signal handlers`() {
    signal(SIGPIPE, SIG_IGN)
    let text = shell("grep -E '^Sig(Ign|Blk)' /proc/self/status; ps -o sid= -p $$ | tr -d ' '; echo $$") ?? ""
    let lines = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
    guard lines.count == 4 else {
      Issue.record("\(text)")
      return
    }
    for line in lines[..<2] {
      // Signals 32 and 33 are reserved by the C library; no program can set them.
      #expect(line.last.flatMap { UInt64($0, radix: 16) }.map { $0 & 0x7fff_ffff } == 0, "\(line)")
    }
    #expect(lines[2] == lines[3])
  }

  @Test func `that does not exist is an error, and one that does not exit is killed`() {
    #expect(throws: ChildProgram.StartFailure.self) {
      try ChildProgram(path: "/nowhere/at-all", arguments: [], environment: [:]).start()
    }
    let began = ContinuousClock.now
    let program = ChildProgram(
      path: "/bin/sh", arguments: ["-c", "exec sleep 60"], environment: ["PATH": "/bin"])
    #expect(program.standardOutput(within: .seconds(1)) == nil)
    #expect(began.duration(to: .now) < .seconds(30))
  }

  @Test func `gets only the named environment variables, and none that is withheld`() {
    let own = ["PATH": "/bin", "LC_ALL": "C", "SECRET": "s", "LANG": "C", "MORE": "m", "FOO": "f"]
    #expect(ChildEnvironment.variables(of: own) == ["PATH": "/bin", "LC_ALL": "C", "LANG": "C"])
    #expect(
      ChildEnvironment.variables(of: own, requested: ["MORE", "SECRET"], withheld: ["SECRET", "LANG"])
        == ["PATH": "/bin", "LC_ALL": "C", "MORE": "m"])
  }

  @Test(arguments: [
    ("ferry\0run\0a b\0", ["run", "a b"]), ("ferry\0", []), ("ferry\0\0x\0\0", ["", "x", ""]), ("ferry", []),
  ])
  func `reads its own command line from proc`(_ text: String, _ words: [String]) throws {
    #expect(try CommandLineArguments.words(of: Array(text.utf8)) == words)
  }

  @Test func `refuses an argument that is not UTF-8`() {
    #expect(throws: CommandLineArguments.Failure.notUTF8(2)) {
      _ = try CommandLineArguments.words(of: Array("ferry\0run\0a".utf8) + [0xff, 0])
    }
  }
}

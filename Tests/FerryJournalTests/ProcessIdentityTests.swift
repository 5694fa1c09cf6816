import Foundation
import Testing

@testable import FerryJournal

struct ProcessIdentityTests {
  @Test func thisProcessIsAlive() {
    #expect(ProcessIdentity.current.isAlive)
    var other = ProcessIdentity.current
    other.started += 1
    #expect(!other.isAlive)
  }

  /// In a container whose first process does not wait for its children, ended processes remain.
  @Test func aProcessThatHasEndedIsDeadBeforeItsParentWaitsForIt() throws {
    var pid: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
    defer { for argument in arguments { free(argument) } }
    #expect(posix_spawnp(&pid, "sleep", nil, nil, &arguments, environ) == 0)
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let fields = text[try #require(text.lastIndex(of: ")"))...].split(separator: " ")
    let process = ProcessIdentity(
      pid: pid, started: try #require(Int64(fields[20])), boot: ProcessIdentity.currentBoot)
    #expect(process.isAlive)
    kill(pid, SIGKILL)
    let end = ContinuousClock.now.advanced(by: .seconds(20))
    while process.isAlive, ContinuousClock.now < end { usleep(1000) }
    #expect(!process.isAlive)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
  }
}

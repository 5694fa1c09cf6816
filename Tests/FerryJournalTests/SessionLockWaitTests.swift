import FerryPlan
import Foundation
import Testing

@testable import FerryJournal

@Suite struct SessionLockWaitTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  /// Another process that prints "held" once it has the lock, and holds it until its input ends.
  private func holder() throws -> (process: Process, input: Pipe) {
    try state.directory.create()
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
    // 37 is F_OFD_SETLK.
    holder.arguments = [
      "-e",
      """
      use Fcntl; $| = 1; open(F, "+>>", $ARGV[0]) or die; my $lock = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
      fcntl(F, 37, $lock) or die; syswrite(F, "pid $$\\nsince 2026-01-01T00:00:00Z\\n"); print "held\\n"; <STDIN>
      """, try state.directory.lock(ofSession: "s"),
    ]
    let output = Pipe()
    let input = Pipe()
    holder.standardOutput = output
    holder.standardInput = input
    try holder.run()
    #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
    return (holder, input)
  }

  private func wait(
    _ limit: Duration, waiting: (SessionLock.Holder) -> Void = { _ in }
  ) throws -> SessionLock.Attempt {
    try SessionLock.wait(
      session: "s", in: state.directory, atMost: limit, now: { .start(plus: 7) }, waiting: waiting)
  }

  @Test func aFreeLockIsTakenWithoutWaiting() throws {
    guard case .acquired(let lock) = try wait(.seconds(60), waiting: { _ in Issue.record("it was free") })
    else {
      Issue.record("the lock was free")
      return
    }
    lock.release()
  }

  /// Whether the holder is killed or exits, the kernel wakes the waiting process.
  @Test(arguments: [SIGKILL, 0])
  func theLockIsTakenAsSoonAsItsHolderIsGone(signal: Int32) throws {
    let (process, input) = try holder()
    var told: SessionLock.Holder?
    let began = ContinuousClock.now
    let attempt = try wait(.seconds(60)) { who in
      told = who
      if signal == 0 {
        input.fileHandleForWriting.closeFile()
      } else {
        kill(process.processIdentifier, signal)
      }
    }
    #expect(began.duration(to: .now) < .seconds(20))
    #expect(told == .init(pid: process.processIdentifier, since: .start))
    guard case .acquired(let lock) = attempt else {
      Issue.record("the lock outlived its process")
      return
    }
    #expect(
      try SessionLock.holder(session: "s", in: state.directory)
        == .init(pid: getpid(), since: .start(plus: 7), use: .command))
    lock.release()
    process.waitUntilExit()
  }

  @Test func anUnsuccessfulWaitReportsTheHolderAndTakesNoLockLater() throws {
    let (process, input) = try holder()
    guard case .held(let pid, let since) = try wait(.milliseconds(30)) else {
      Issue.record("the other process holds the lock")
      return
    }
    #expect(pid == process.processIdentifier && since == .start)
    input.fileHandleForWriting.closeFile()
    process.waitUntilExit()
    // The abandoned thread may hold the lock for a moment.
    guard case .acquired(let lock) = try wait(.seconds(60)) else {
      Issue.record("the lock was not acquired")
      return
    }
    lock.release()
  }
}

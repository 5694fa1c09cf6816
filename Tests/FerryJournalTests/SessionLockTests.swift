import FerryPlan
import Foundation
import Testing

@testable import FerryJournal

@Suite struct SessionLockTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  @Test func aSecondHolderLearnsWhoTheFirstIs() throws {
    let first = try SessionLock.try(session: "s", in: state.directory, at: .start)
    guard case .acquired(let lock) = first else {
      Issue.record("the lock was free")
      return
    }
    let second = try SessionLock.try(session: "s", in: state.directory, at: .start(plus: 5))
    guard case .held(let pid, let since) = second else {
      Issue.record("the lock was taken twice")
      return
    }
    #expect(pid == getpid() && since == .start)
    #expect(state.mode(lock.path) == 0o600)
    guard case .acquired(let other) = try SessionLock.try(session: "t", in: state.directory, at: .start)
    else {
      Issue.record("sessions do not shut each other out")
      return
    }
    other.release()
    lock.release()
    lock.release()
    guard case .acquired(let again) = try SessionLock.try(session: "s", in: state.directory, at: .start)
    else {
      Issue.record("a released lock is free")
      return
    }
    again.release()
  }

  @Test func theLockOfAnotherProcessEndsWithIt() throws {
    try state.directory.create()
    let path = try state.directory.lock(ofSession: "s")
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
    // Prints "held" once it has the lock, and holds it until its input ends. 37 is F_OFD_SETLK.
    holder.arguments = [
      "-e",
      """
      use Fcntl; $| = 1; open(F, "+>>", $ARGV[0]) or die; my $lock = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
      fcntl(F, 37, $lock) or die; syswrite(F, "pid $$\\n"); print "held\\n"; <STDIN>
      """, path,
    ]
    let output = Pipe()
    let input = Pipe()
    holder.standardOutput = output
    holder.standardInput = input
    try holder.run()
    #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
    guard case .held(let pid, _) = try SessionLock.try(session: "s", in: state.directory, at: .start) else {
      Issue.record("the other process holds the lock")
      return
    }
    #expect(pid == holder.processIdentifier)
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
    guard case .acquired(let lock) = try SessionLock.try(session: "s", in: state.directory, at: .start) else {
      Issue.record("the lock outlived its process")
      return
    }
    lock.release()
  }

  @Test func theHolderOfASessionIsReadWithoutTouchingTheLock() throws {
    #expect(try SessionLock.holder(session: "s", in: state.directory) == nil)
    guard case .acquired(let lock) = try SessionLock.try(session: "s", in: state.directory, at: .start) else {
      Issue.record("the lock was free")
      return
    }
    #expect(
      try SessionLock.holder(session: "s", in: state.directory)
        == .init(pid: getpid(), since: .start, use: .command))
    lock.release()
    // The text that a killed holder leaves in the file is ignored.
    let path = try state.directory.lock(ofSession: "s")
    try Data("pid \(getpid())\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try SessionLock.holder(session: "s", in: state.directory) == nil)
  }
}

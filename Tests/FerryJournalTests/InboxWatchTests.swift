import FerryJournal
import FerryPlan
import FerryProcess
import Foundation
import Testing

/// Watching requires inotify.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/sys/fs/inotify")))
struct InboxWatchTests {
  let state: TemporaryState
  let thread: PollThread

  init() throws {
    state = try TemporaryState()
    thread = try PollThread("inbox-test")
  }

  @Test func aNoteFromAnotherThreadWakesOnlyTheHolderOfItsSession() throws {
    let here = Bell()
    let there = Bell()
    let first = try InboxWatch(session: "s", in: state.directory, on: thread, deliver: here.ring)
    let second = try InboxWatch(session: "t", in: state.directory, on: thread, deliver: there.ring)
    #expect(first.isWatching && second.isWatching)
    let directory = state.directory
    let leave: @Sendable (String) -> Void = { session in
      Thread.detachNewThread {
        do {
          let inbox = try Inbox.open(in: directory, writtenBy: "0.0-test", at: .start)
          try inbox.leave(Note(session: session, kind: .cancel, createdAt: .start))
        } catch {
          Issue.record(error)
        }
      }
    }
    leave("t")
    #expect(there.wait(for: 1))
    #expect(here.count == 0)
    leave("s")
    #expect(here.wait(for: 1))
    #expect(try Inbox.openForReading(in: state.directory).notes(session: "s").count == 1)
    leave("s")
    #expect(here.wait(for: 2))
    #expect(here.count == 2 && there.count == 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test func theHolderIsWokenEvenIfTheFileWasRemoved() throws {
    let bell = Bell()
    let inbox = try Inbox.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    let watch = try InboxWatch(session: "s", in: state.directory, on: thread, deliver: bell.ring)
    for count in 1...3 {
      try inbox.leave(Note(session: "s", kind: .finish, createdAt: .start))
      #expect(bell.wait(for: count))
      try FileManager.default.removeItem(atPath: state.directory.inbox(ofSession: "s"))
    }
    withExtendedLifetime(watch) {}
  }

  @Test func aReleasedWatchIsSilent() throws {
    let gone = Bell()
    let bell = Bell()
    let inbox = try Inbox.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    _ = try InboxWatch(session: "s", in: state.directory, on: thread, deliver: gone.ring)
    let watch = try InboxWatch(session: "s", in: state.directory, on: thread, deliver: bell.ring)
    try inbox.leave(Note(session: "s", kind: .finish, createdAt: .start))
    #expect(bell.wait(for: 1))
    #expect(gone.count == 0)
    withExtendedLifetime(watch) {}
  }

  /// Counts calls. If a call does not arrive, the test fails after a minute.
  ///
  /// `@unchecked Sendable`: `condition` guards `calls`.
  private final class Bell: @unchecked Sendable {
    private let condition = NSCondition()
    private var calls = 0

    var ring: @Sendable () -> Void {
      {
        self.condition.withLock {
          self.calls += 1
          self.condition.broadcast()
        }
      }
    }

    var count: Int { condition.withLock { calls } }

    func wait(for count: Int) -> Bool {
      let limit = Date(timeIntervalSinceNow: 60)
      return condition.withLock {
        while calls < count {
          if !condition.wait(until: limit) { return false }
        }
        return true
      }
    }
  }
}

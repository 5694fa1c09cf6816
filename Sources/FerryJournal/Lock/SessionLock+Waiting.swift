import FerryPlan
import FerryProcess
import Foundation

extension SessionLock {
  /// Acquires the lock, waiting at most `limit` for its holder to release it. With a limit of 0, this method does not
  /// wait.
  ///
  /// A separate thread requests the lock from the kernel and sleeps until the holder releases it or ends
  /// (F_OFD_SETLKW, fcntl(2)). inotify(7) would not work: if the holder is killed, its file is reported as
  /// closed before its lock is released.
  ///
  /// - Parameters:
  ///   - now: returns the time; called when the lock has been acquired.
  ///   - waiting: called once before waiting, with the holder according to the lock file.
  package static func wait(
    session identifier: String, in state: StateDirectory, for use: Use = .command, atMost limit: Duration,
    now: () -> Instant, waiting: (Holder) -> Void = { _ in }
  ) throws(JournalError) -> Attempt {
    let deadline = DeadlineCondition.now.addingReportingOverflow(max(0, limit.nanoseconds))
    let first = try `try`(session: identifier, in: state, at: now(), for: use)
    guard case .held(let pid, let since) = first, limit > .zero else { return first }
    waiting(Holder(pid: pid, since: since))
    let path = try state.lock(ofSession: identifier)
    let request = try LockRequest(path)
    guard try request.wait(until: deadline.overflow ? nil : deadline.partialValue) else {
      // Another process may hold the lock now.
      let holder = try holder(session: identifier, in: state)
      return .held(by: holder?.pid ?? pid, since: holder?.since ?? since)
    }
    return .acquired(try SessionLock(path: path, locked: request.take(), since: now(), for: use))
  }
}

/// A lock for which a thread waits.
///
/// If the caller stops waiting, the thread continues to exist: when the holder releases the lock, the thread acquires
/// the lock and releases it immediately.
///
/// `@unchecked Sendable`: `state` is accessed under `condition`'s lock; `descriptor` belongs to the thread
/// until it has ended.
private final class LockRequest: @unchecked Sendable {
  private enum State {
    case waiting
    case locked
    case failed(errno: Int32)
    /// The caller has stopped waiting.
    case abandoned
  }

  private let path: String
  private let descriptor: Int32
  private let condition = DeadlineCondition()
  private var state = State.waiting

  init(_ path: String) throws(JournalError) {
    self.path = path
    descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    do throws(ThreadUnavailable) {
      try SerialWorker("ferry-lock").submit { self.run() }
    } catch {
      close(descriptor)
      throw JournalError(.noThread, file: path, cause: "\(error)")
    }
  }

  /// Waits for the lock, and returns whether it was acquired before the deadline.
  func wait(until deadline: Int64?) throws(JournalError) -> Bool {
    let code: Int32? = condition.withLock {
      while case .waiting = state {
        if let deadline, DeadlineCondition.now >= deadline {
          state = .abandoned
          return nil
        }
        condition.wait(until: deadline)
      }
      if case .failed(let code) = state { return code }
      return 0
    }
    guard let code else { return false }
    guard code == 0 else {
      close(descriptor)
      throw JournalError(errno: code, doing: "lock", file: path)
    }
    return true
  }

  /// Returns the open file that holds the lock. The caller takes ownership of it.
  func take() -> Int32 { descriptor }

  private func run() {
    var code: Int32 = 0
    while SessionLock.setLock(descriptor, SessionLock.setOpenFileLockWaiting) != 0 {
      code = errno
      if code != EINTR { break }
      code = 0
    }
    condition.withLock {
      if case .abandoned = state {
        close(descriptor)
      } else {
        state = code == 0 ? .locked : .failed(errno: code)
      }
      condition.wakeAll()
    }
  }
}

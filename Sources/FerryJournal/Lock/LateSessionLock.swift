import FerryPlan
import FerryProcess
import Foundation
import Synchronization

/// The lock on a session that another process keeps, although its lease has expired because it was stopped.
///
/// The owner of the lease runs without the lock, and a thread waits for it. When the stopped process ends, the owner
/// holds the lock. Otherwise, commands that only take the lock, such as `ferry reset`, could change the journal.
package final class LateSessionLock: Sendable {
  private enum State {
    case waiting
    case locked(SessionLock)
    case released
  }

  private let state = Mutex(State.waiting)

  /// Starts to wait for the lock.
  ///
  /// - Parameter now: returns the time; called when the lock has been acquired.
  package init(
    session identifier: String, in folder: StateDirectory, now: @escaping @Sendable () -> Instant
  ) throws(JournalError) {
    let path = try folder.lock(ofSession: identifier)
    let worker: SerialWorker
    do throws(ThreadUnavailable) { worker = try SerialWorker("ferry-lock") } catch {
      throw JournalError(.noThread, file: path, cause: "\(error)")
    }
    let descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    worker.submit { self.wait(path, descriptor, now) }
  }

  /// Releases the lock, or stops waiting for it. A second call has no effect.
  package func release() {
    state.withLock { state in
      if case .locked(let lock) = state { lock.release() }
      state = .released
    }
  }

  private func wait(_ path: String, _ descriptor: Int32, _ now: () -> Instant) {
    while SessionLock.setLock(descriptor, SessionLock.setOpenFileLockWaiting) != 0 {
      guard errno == EINTR else {
        close(descriptor)
        return
      }
    }
    state.withLock { state in
      switch state {
      // If the holder cannot be written to the file, the lock is released: only its text would be missing, but the disk
      // is probably full, and the run ends for this reason.
      case .waiting:
        state =
          (try? SessionLock(path: path, locked: descriptor, since: now(), for: .run)).map(State.locked)
          ?? .released
      case .locked, .released: close(descriptor)
      }
    }
  }
}

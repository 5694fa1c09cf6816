/// Runs the same work on several threads at once.
package enum ParallelWork {
  /// Calls `body` on the calling thread and on up to `workers - 1` other threads, and returns when all calls
  /// have returned. If the system refuses threads, fewer calls are made, but the call on the calling thread is
  /// always made.
  package static func perform(workers: Int, _ body: @escaping @Sendable () -> Void) {
    let group = Group()
    for _ in 1..<max(workers, 1) {
      group.enter()
      do throws(ThreadUnavailable) {
        try SystemThread.start("ferry-parallel") {
          body()
          group.leave()
        }
      } catch {
        group.leave()
        break
      }
    }
    body()
    group.wait()
  }

  /// `@unchecked Sendable`: `running` is accessed under `condition`'s lock.
  private final class Group: @unchecked Sendable {
    private let condition = DeadlineCondition()
    private var running = 0

    func enter() { condition.withLock { running += 1 } }

    func leave() {
      condition.withLock {
        running -= 1
        condition.wakeAll()
      }
    }

    func wait() {
      condition.withLock {
        while running > 0 { condition.wait() }
      }
    }
  }
}

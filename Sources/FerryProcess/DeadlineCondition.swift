#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A lock and a condition variable whose wait can have a deadline on the monotonic clock.
///
/// `@unchecked Sendable`: POSIX mutexes and conditions may be used from any thread, and their storage never
/// moves.
package final class DeadlineCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    #if os(Linux)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    #else
    pthread_cond_init(condition, nil)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// The first reading of the clock. Nanoseconds counted from the clock's own zero could exceed 64 bits,
  /// because libfaketime can shift this clock by centuries.
  private static let start = reading

  private static var reading: timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time
  }

  /// The time on the clock of the deadlines: nanoseconds since the clock was first read.
  package static var now: Int64 {
    let (start, time) = (start, reading)
    // No run takes a century. The bound prevents an overflow if the clock is shifted further during the run.
    let seconds = min(max(Int64(time.tv_sec) &- Int64(start.tv_sec), 0), 1 << 32)
    return seconds * 1_000_000_000 + Int64(time.tv_nsec) - Int64(start.tv_nsec)
  }

  package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Waits to be woken, until `deadline` at the latest. The lock must be held. May wake up spuriously.
  package func wait(until deadline: Int64? = nil) {
    guard let deadline else {
      pthread_cond_wait(condition, mutex)
      return
    }
    #if os(Linux)
    var time = Self.start
    let nanoseconds = max(0, deadline) % 1_000_000_000 + Int64(time.tv_nsec)
    time.tv_sec = time.tv_sec &+ Int(max(0, deadline) / 1_000_000_000 + nanoseconds / 1_000_000_000)
    time.tv_nsec = Int(nanoseconds % 1_000_000_000)
    pthread_cond_timedwait(condition, mutex, &time)
    #else
    let rest = max(0, deadline - Self.now)
    var time = timespec()
    time.tv_sec = Int(rest / 1_000_000_000)
    time.tv_nsec = Int(rest % 1_000_000_000)
    pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #endif
  }

  package func wakeAll() { pthread_cond_broadcast(condition) }
}

import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Starts threads. When `start` returns, the thread exists; if it cannot be created, `start` throws an error.
///
/// Dispatch creates threads when there is work, and waits indefinitely if the system refuses one;
/// Foundation's `Thread` ignores the error. Neither is suitable for work on which a run depends.
enum SystemThread {
  /// The size of a thread's stack in bytes: enough for SQLite and OpenSSL, but small, because address space
  /// may be limited.
  private static let stackSize = 1 << 20

  /// Starts a detached thread that blocks all signals, so that the main thread receives them.
  ///
  /// - Parameter name: at most 15 bytes, as shown by `ps -L` and debuggers.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadUnavailable) {
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    // A thread inherits the signal mask of its creator.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let number = pthread_create(&thread, &attributes, enter, start.toOpaque())
    guard number == 0 else {
      start.release()
      throw ThreadUnavailable(name: name, number: number)
    }
  }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  #if canImport(Darwin)
  private static let enter: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
    run($0)
    return nil
  }
  #else
  private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    if let start = $0 { run(start) }
    return nil
  }
  #endif

  private static func run(_ pointer: UnsafeMutableRawPointer) {
    // Retained by `start` for this single call.
    let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    ferry_set_thread_name(start.name)
    start.body()
  }
}

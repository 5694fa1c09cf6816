import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Threads that exist, or whose creation has failed, when the call returns.
///
/// Dispatch creates threads when there is work, and waits indefinitely where the system refuses one; Foundation's
/// `Thread` drops the error. Neither may carry work that a run waits for.
enum SystemThread {
  /// Address space of a thread's stack: enough for SQLite and OpenSSL, and small where address space is limited.
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
    // A thread inherits the mask of its creator.
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
    // Retained by `start`, for this one call.
    let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    ferry_set_thread_name(start.name)
    start.body()
  }
}

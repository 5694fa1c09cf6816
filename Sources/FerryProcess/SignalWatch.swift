import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Delivers signals to a handler instead of letting them terminate the process.
///
/// The signals are blocked, and their arrival makes a descriptor readable (signalfd(2)). This module's
/// threads block all signals, so blocking the signals on the main thread, which creates and releases this
/// object, blocks them for the process. If the system does not support signalfd, signals terminate the
/// process as before.
package final class SignalWatch {
  private var signals: sigset_t
  private let watch: PollThread.Watch?

  /// - Parameters:
  ///   - numbers: the signal numbers.
  ///   - thread: calls `deliver` with the number of each signal that arrives.
  package init(_ numbers: [Int32], on thread: PollThread, _ deliver: @escaping @Sendable (Int32) -> Void) {
    signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let descriptor = ferry_signal_descriptor(&signals)
    guard descriptor >= 0 else {
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      watch = nil
      return
    }
    watch = thread.watch(descriptor) {
      while let number = Self.next(descriptor) { deliver(number) }
    }
  }

  /// A signal that has arrived but was not delivered is dropped. The next one terminates the process.
  deinit {
    guard watch != nil else { return }
    #if os(Linux)
    var none = timespec()
    while sigtimedwait(&signals, nil, &none) > 0 {}
    #endif
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Whether the process ignores the signal, as under nohup(1).
  package static func isIgnored(_ number: Int32) -> Bool { ferry_ignores_signal(number) != 0 }

  /// Reads the number of the next pending signal; returns `nil` if there is none.
  private static func next(_ descriptor: Int32) -> Int32? {
    // struct signalfd_siginfo has 128 bytes; its first field, 32 bits wide, is the signal number.
    withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
      guard read(descriptor, buffer.baseAddress, buffer.count) == buffer.count else { return nil }
      return Int32(clamping: buffer.load(as: UInt32.self))
    }
  }
}

import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Delivers signals to a handler, so that they do not end the process.
///
/// The signals are blocked, and their arrival makes a descriptor readable (signalfd(2)). The threads of this module
/// block all signals, so blocking them on the main thread, which creates and releases this, blocks them for the
/// process. Where the system has no such descriptor, a signal ends the process as before.
package final class SignalWatch {
  private var signals: sigset_t
  private let watch: PollThread.Watch?

  /// - Parameters:
  ///   - numbers: of the signals.
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

  /// A signal that has arrived and was not delivered is dropped; the next one ends the process.
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

  /// The number of the next signal that has arrived; `nil` without one.
  private static func next(_ descriptor: Int32) -> Int32? {
    // struct signalfd_siginfo, of 128 bytes; the signal's number is its first field, of 32 bits.
    withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
      guard read(descriptor, buffer.baseAddress, buffer.count) == buffer.count else { return nil }
      return Int32(clamping: buffer.load(as: UInt32.self))
    }
  }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reports that child processes have ended (SIGCHLD), until it is released.
///
/// If the system does not support signalfd, nothing is reported.
package final class ChildWatch {
  private let watch: SignalWatch

  /// - Parameters:
  ///   - thread: calls `deliver` after one or more children have ended.
  package init(on thread: PollThread, _ deliver: @escaping @Sendable () -> Void) {
    watch = SignalWatch([SIGCHLD], on: thread) { _ in deliver() }
  }
}

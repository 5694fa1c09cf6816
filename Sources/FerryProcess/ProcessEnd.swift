#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The end of a process whose main thread cannot end it.
package enum ProcessEnd {
  /// Writes a line to standard error, unless that would block, and kills the process. Nothing is cleaned up.
  package static func kill(because line: String) -> Never {
    var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    if poll(&descriptor, 1, 0) == 1 {
      let bytes = Array((line + "\n").utf8)
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
    _ = raise(SIGKILL)
    // The first process of a container is not killed by its own signal (pid_namespaces(7)).
    _exit(128 + SIGKILL)
  }
}

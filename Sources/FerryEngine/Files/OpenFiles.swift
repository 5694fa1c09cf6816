import FerryPlan
import Foundation

/// Prepares the process's file descriptors at startup.
package enum OpenFiles {
  /// The number of files that a small run has open at a time: journals with their logs, event descriptors, a
  /// connection and its file. With a lower limit, parts of the system terminate the process if they cannot
  /// get a descriptor.
  private static let least = 32

  /// Opens /dev/null in place of a closed standard input, output or error. Otherwise, the next opened file
  /// would take that number, and ferry would read it as a list or write messages to it.
  package static func fillStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where isFree(descriptor) {
      // open(2) returns the lowest free number. If it fails, there is nowhere to report the error.
      guard open("/dev/null", O_RDWR) == descriptor else { exit(ExitCode.fault.rawValue) }
    }
  }

  /// Raises the limit on open files as far as the system allows; a shell's default is often 1024.
  ///
  /// - Throws: `EngineFault` if the limit remains too low.
  package static func allowMany() throws(EngineFault) {
    var limit = rlimit()
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = RLIMIT_NOFILE.rawValue
    #endif
    guard getrlimit(numericCast(kind), &limit) == 0 else { return }
    // macOS rejects more than OPEN_MAX, regardless of the hard limit.
    let wanted = min(limit.rlim_max, 10_240)
    if limit.rlim_cur < wanted {
      var raised = limit
      raised.rlim_cur = wanted
      if setrlimit(numericCast(kind), &raised) == 0 { limit = raised }
    }
    let free = (0..<Int32(min(limit.rlim_cur, 10_240))).lazy.filter(isFree).prefix(least).count
    guard free < least else { return }
    throw EngineFault(
      .fault,
      "only \(free) more files can be opened at a time, but ferry needs at least \(least)\n"
        + "help: raise the limit (ulimit -n 1024, or LimitNOFILE= in a systemd unit), and run ferry again; nothing was done"
    )
  }

  private static func isFree(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) < 0 && errno == EBADF }
}

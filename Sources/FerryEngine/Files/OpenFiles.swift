import FerryPlan
import Foundation

/// The files that ferry may have open, as it starts.
package enum OpenFiles {
  /// As many as a small run has open at a time: journals with their logs, what waits for events, a connection and
  /// its file. Beneath it parts of the system end the process where they find none.
  private static let least = 32

  /// Opens /dev/null in place of a standard input, output or error that is closed: the next file to be opened would
  /// take its number, and be read as a list or written to as a terminal.
  package static func fillStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where isFree(descriptor) {
      // The lowest free number. Without it there is nowhere to say so.
      guard open("/dev/null", O_RDWR) == descriptor else { exit(ExitCode.fault.rawValue) }
    }
  }

  /// Raises the bound on open files as far as the system lets it; a shell's default is often 1024.
  ///
  /// - Throws: where too few are left of it.
  package static func allowMany() throws(EngineFault) {
    var limit = rlimit()
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = RLIMIT_NOFILE.rawValue
    #endif
    guard getrlimit(numericCast(kind), &limit) == 0 else { return }
    // macOS refuses more than OPEN_MAX, whatever the hard bound says.
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
      "only \(free) more files can be open at a time, and ferry needs \(least) at least\n"
        + "help: allow it more (ulimit -n 1024, or LimitNOFILE= of a systemd unit), and run again; nothing was done"
    )
  }

  private static func isFree(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) < 0 && errno == EBADF }
}

import FerryPlan
import Foundation

/// The files that ferry may have open, as it starts.
package enum OpenFiles {
  /// Opens /dev/null in place of a standard input, output or error that is closed: the next file to be opened would
  /// take its number, and be read as a list or written to as a terminal.
  package static func fillStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where isFree(descriptor) {
      // The lowest free number. Without it there is nowhere to say so.
      guard open("/dev/null", O_RDWR) == descriptor else { exit(ExitCode.fault.rawValue) }
    }
  }

  private static func isFree(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) < 0 && errno == EBADF }
}

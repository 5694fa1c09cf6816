import FerryPlan
import FerryTransfer
import Foundation

extension ReportDestination {
  /// Opens the destination for appending. A new file is readable according to the umask. In a world-writable folder,
  /// files and links of other users are refused.
  ///
  /// - Parameter option: the option that names the file, for messages.
  package func open(for option: String) throws(UsageError) -> Int32 {
    func refused(_ reason: String) -> UsageError {
      UsageError(
        "\(option) \(path): cannot be written: \(reason)\nhelp: specify another file; nothing was done")
    }
    switch kind {
    case .descriptor(let descriptor): return descriptor
    case .folder: throw refused("it is a folder")
    case .refused(let reason): throw refused(reason)
    case .unreachable(let code): throw refused(String(cString: strerror(code)))
    case .stream(let path):
      do throws(FolderPath.Failure) {
        return try FolderPath.file(Array(path.utf8), for: .appending)
      } catch {
        if case .system(ENXIO) = error { throw refused("no process has it open for reading") }
        throw refused(error.reason)
      }
    case .file(let target):
      let descriptor = Foundation.open(
        target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
      guard descriptor >= 0 else { throw refused(String(cString: strerror(errno))) }
      return descriptor
    }
  }
}

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
    func opened(_ target: String, creationMode: mode_t?) throws(UsageError) -> Int32 {
      do throws(FolderPath.Failure) {
        return try FolderPath.file(Array(target.utf8), for: .appending, creationMode: creationMode)
      } catch {
        if case .system(ENXIO) = error { throw refused("no process has it open for reading") }
        throw refused(error.reason)
      }
    }
    switch kind {
    case .descriptor(let descriptor): return descriptor
    case .folder: throw refused("it is a folder")
    case .refused(let reason): throw refused(reason)
    case .unreachable(let code): throw refused(String(cString: strerror(code)))
    case .stream(let target): return try opened(target, creationMode: nil)
    case .file(let target): return try opened(target, creationMode: 0o666)
    }
  }
}

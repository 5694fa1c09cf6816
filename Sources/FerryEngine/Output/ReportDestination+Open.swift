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
    case .file(let target):
      let descriptor = try opened(target, creationMode: 0o666)
      Self.completeLastLine(of: descriptor, at: target)
      return descriptor
    }
  }

  /// Rejects options that name the same regular file in different ways, such as through a link. Each would overwrite the
  /// lines of the other.
  package static func checkAreDifferent(_ files: [(option: String, path: String)]) throws(UsageError) {
    struct Identity: Hashable {
      var device: dev_t
      var inode: ino_t
    }
    var options: [Identity: String] = [:]
    for (option, path) in files {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if let other = options.updateValue(
        option, forKey: Identity(device: status.st_dev, inode: status.st_ino))
      {
        throw UsageError(
          "\(other) and \(option) have the same file\nhelp: specify different files; nothing was done")
      }
    }
  }

  private static let newline = UInt8(ascii: "\n")

  /// Appends a line break if the file ends with an incomplete line, so that the first new line is separate from it. A
  /// full disk or a kill can interrupt the write of a line.
  ///
  /// - Parameter path: the path of the open file, which is opened again for reading. If the file cannot be read, it is
  ///   not changed.
  private static func completeLastLine(of descriptor: Int32, at path: String) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return
    }
    let reader: Int32
    do throws(FolderPath.Failure) {
      reader = try FolderPath.file(Array(path.utf8), for: .readingAtOnce)
    } catch {
      return
    }
    defer { close(reader) }
    var readStatus = stat()
    var last: UInt8 = 0
    guard fstat(reader, &readStatus) == 0, readStatus.st_dev == status.st_dev,
      readStatus.st_ino == status.st_ino, pread(reader, &last, 1, status.st_size - 1) == 1, last != newline
    else { return }
    // If the disk is still full, writing the events fails too, which is reported at the end of the run.
    _ = AtomicWrite.failure(of: [newline], to: descriptor)
  }
}

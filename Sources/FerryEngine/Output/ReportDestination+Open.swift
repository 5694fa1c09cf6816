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

  /// Rejects options that refer to the same regular file, also under different names or through a link, and options that
  /// refer to a file that the command reads. One would overwrite what the other has written, or the file that is read.
  ///
  /// - Parameters:
  ///   - files: the files that are written, each with its option.
  ///   - inputs: the paths of files that the command reads, with their names for messages, such as "the manifest".
  package static func checkAreDifferent(
    _ files: [(option: String, path: String)], inputs: [(name: String, path: String)] = []
  ) throws(UsageError) {
    var options: [Identity: String] = [:]
    for (name, path) in inputs {
      if let identity = ReportDestination(path).identity { options[identity] = name }
    }
    for (option, path) in files {
      guard let identity = ReportDestination(path).identity,
        let other = options.updateValue(option, forKey: identity)
      else { continue }
      let subject = other == option ? "two files of \(option) are" : "\(other) and \(option) refer to"
      throw UsageError("\(subject) the same file\nhelp: specify different files; nothing was done")
    }
  }

  /// What two paths to the same regular file have in common.
  private enum Identity: Hashable {
    case existing(dev_t, ino_t)
    /// The file does not exist yet. The values are its folder's.
    case missing(dev_t, ino_t, name: String)
  }

  /// `nil` if the destination is not a regular file, or cannot be found.
  private var identity: Identity? {
    guard case .file(let target) = kind else { return nil }
    var status = stat()
    if stat(target, &status) == 0 { return .existing(status.st_dev, status.st_ino) }
    let path = SplitPath(target)
    guard stat(path.folder.isEmpty ? "." : path.folder, &status) == 0 else { return nil }
    return .missing(status.st_dev, status.st_ino, name: path.name)
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

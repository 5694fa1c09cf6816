import FerryPlan
import FerryReport
import FerryTransfer
import Foundation

/// The requested destination of a run's report: `--report`.
package struct ReportDestination: Sendable {
  let path: String
  /// Whether the report is appended to the file, as if another process had it open.
  private let appends: Bool

  package init(_ path: String, appends: Bool = false) {
    self.path = path
    self.appends = appends
  }

  enum Kind {
    /// One of ferry's own descriptors, such as standard output, under any name. It is written to directly,
    /// because it may refer to a file that other processes also write to, and the report must be appended to
    /// their output.
    case descriptor(Int32)
    /// A regular file, or a path where one can be created. It is replaced as a whole; if the path is a link,
    /// its target is replaced.
    case file(String)
    /// A FIFO, a device or a similar file, or a file that another process has open. It is opened and written
    /// to.
    case stream(String)
    case folder
    /// The path leads to another user's file, through another user's link, or to a socket. The text gives the reason, for
    /// messages.
    case refused(String)
    /// The system's error for the path.
    case unreachable(Int32)
  }

  var kind: Kind {
    if path == "-" { return .descriptor(STDOUT_FILENO) }
    let end = end
    if let refusal = end.refusal { return .refused(refusal) }
    if let descriptor = end.descriptor, descriptor >= 0 { return .descriptor(descriptor) }
    var status = stat()
    if end.descriptor != nil {
      // Another process has the file open; the report is appended to it.
      return stat(path, &status) == 0 ? .stream(path) : .unreachable(errno)
    }
    // All links have been followed. A link found here was created after the check.
    guard lstat(end.path, &status) == 0 else {
      guard errno == ENOENT, !path.isEmpty else { return .unreachable(errno) }
      return end.path.utf8.last == UInt8(ascii: "/") ? .folder : .file(end.path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFLNK:
      return .refused(
        "it is a symbolic link that cannot be followed: its target is not UTF-8, or is being replaced")
    case S_IFREG where appends: return .stream(end.path)
    case S_IFREG:
      let output = [STDOUT_FILENO, STDERR_FILENO].first { Self.isOpen($0, as: status) }
      return output.map { .descriptor($0) } ?? .file(end.path)
    case S_IFDIR: return .folder
    case S_IFSOCK: return .refused("it is a socket")
    default: return .stream(end.path)
    }
  }

  private static func isOpen(_ descriptor: Int32, as file: stat) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino
  }

  /// The target of the links: a file, which may not exist yet, or a descriptor. In a world-writable folder,
  /// links of other users are not followed, and files of other users are not written to.
  private var end: (path: String, descriptor: Int32?, refusal: String?) {
    var target = path
    // The maximum number of links that Linux follows (path_resolution(7)).
    for _ in 0..<40 {
      let path = SplitPath(target)
      // Check the owners first, because the path to a descriptor may contain another user's link.
      if let refusal = ReplacedFile.refusal(target) { return (target, nil, refusal) }
      if let descriptor = Self.descriptor(path.name, in: path.folder) {
        return (target, descriptor, nil)
      }
      // Stop at a path that is not a link or does not exist.
      guard let next = ReplacedFile.destination(ofLink: target) else { break }
      target = next.utf8.first == UInt8(ascii: "/") ? next : path.start + next
    }
    return (target, nil, nil)
  }

  /// The number of the descriptor that a name in `/proc/PID/fd` or `/dev/fd` refers to; -1 for a descriptor of
  /// another process, `nil` for other paths.
  ///
  /// Such a name looks like a link to the file's path, but opening it opens the file itself (proc(5)).
  private static func descriptor(_ name: String, in folder: String) -> Int32? {
    guard let number = Int32(name), number >= 0,
      let real = FileLister.real(Array(folder.utf8)).map({ String(decoding: $0, as: UTF8.self) })
    else { return nil }
    if real == "/dev/fd" { return number }
    let parts = SplitPath.names(of: real)
    guard parts.count >= 3, parts.first == "proc", parts.last == "fd" else { return nil }
    return Int32(parts[1]) == getpid() ? number : -1
  }

  /// Checks, before a run, whether the report can be written when the run ends.
  package func check() throws(UsageError) {
    switch kind {
    case .descriptor(let descriptor):
      let flags = fcntl(descriptor, F_GETFL)
      guard flags >= 0 else { throw refused(Self.reason(errno)) }
      guard flags & O_ACCMODE != O_RDONLY else { throw refused("it is open for reading only") }
    case .stream(let path):
      guard access(path, W_OK) == 0 else { throw refused(Self.reason(errno)) }
    case .folder: throw refused("it is a folder")
    case .refused(let reason): throw refused(reason)
    case .unreachable(let code): throw refused(Self.reason(code))
    case .file(let target):
      let parent = SplitPath(target).folder
      let folder = parent.isEmpty ? "." : parent
      var status = stat()
      guard stat(folder, &status) == 0 else { throw refused("\(folder): \(Self.reason(errno))") }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw refused("\(folder) is not a folder") }
      // The report is written to a temporary file in the same folder, and that file then replaces the destination.
      guard access(folder, W_OK | X_OK) == 0 else { throw refused("\(folder): \(Self.reason(errno))") }
    }
  }

  private func refused(_ reason: String) -> UsageError {
    UsageError(
      "--report \(path): the report cannot be written there: \(reason)\n"
        + "help: create the folder, or specify another file; nothing was done")
  }

  /// The maximum time to wait for the reader of a FIFO or a device.
  private static let patience = Duration.seconds(30)

  /// Writes the report. A reader that has closed the stream is not a fault, because ferry keeps its own copy
  /// of the report.
  ///
  /// The write waits indefinitely for the reader of standard output, which may be a person with a pager.
  /// Therefore, the sessions' locks are released first.
  func write(_ source: ReportSource, as renderer: any ReportRenderer) throws {
    switch kind {
    case .descriptor(let descriptor): try put(source, renderer, to: descriptor, patience: nil)
    case .folder: throw failed("it is a folder")
    case .refused(let reason): throw failed(reason)
    case .unreachable(let code): throw failed(Self.reason(code))
    case .file(let target):
      let code = try AtomicWrite.failure(replacing: target, access: .ofReplaced) { descriptor in
        try ReportWriter.failure(of: source, renderer, to: descriptor)
      }
      if let code { throw failed(Self.reason(code)) }
    case .stream(let path):
      // Do not wait for the reader of a FIFO, because waiting would block the run and its sessions indefinitely. A file
      // that another process has open may be a regular file, to which the report is appended.
      let descriptor: Int32
      do throws(FolderPath.Failure) {
        descriptor = try FolderPath.file(Array(path.utf8), for: .appending)
      } catch {
        if case .system(ENXIO) = error { throw failed("no process has it open for reading") }
        throw failed(error.reason)
      }
      defer { close(descriptor) }
      try put(source, renderer, to: descriptor, patience: Self.patience)
    }
  }

  private func put(
    _ source: ReportSource, _ renderer: any ReportRenderer, to descriptor: Int32, patience: Duration?
  ) throws {
    let code = try ReportWriter.failure(of: source, renderer, to: descriptor, patience: patience)
    guard let code, code != EPIPE else { return }
    throw failed(
      code == ETIMEDOUT
        ? "its reader did not read for \(Self.patience.components.seconds) seconds" : Self.reason(code))
  }

  private func failed(_ reason: String) -> EngineFault {
    let name = path == "-" ? "standard output" : path
    return EngineFault(.fault, "\(name): the report cannot be written: \(reason)")
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

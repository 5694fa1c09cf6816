import Foundation

/// Where someone wants a run's report: `--report`.
package struct ReportDestination: Sendable {
  private let path: String

  package init(_ path: String) { self.path = path }

  private enum Kind {
    case standardOutput
    /// A regular file, or a place for one: replaced as a whole. A link to it stays.
    case file(String)
    /// A FIFO, a device or the like: opened and written to.
    case stream
    case folder
    /// What the system says of the place.
    case unreachable(Int32)
  }

  private var kind: Kind {
    if path == "-" { return .standardOutput }
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT ? .file(target) : .unreachable(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file(target)
    case S_IFDIR: return .folder
    default: return .stream
    }
  }

  /// The file that links lead to, which may not be there yet.
  private var target: String {
    var target = path
    // As many as Linux follows (path_resolution(7)).
    for _ in 0..<40 {
      // What is no link, or not there, is the end.
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else { break }
      let folder = (target as NSString).deletingLastPathComponent
      target = next.hasPrefix("/") || folder.isEmpty ? next : folder + "/" + next
    }
    return target
  }

  /// Says before a run what would keep the report from being written at its end.
  package func check() throws(UsageError) {
    switch kind {
    case .standardOutput: return
    case .stream:
      guard access(path, W_OK) == 0 else { throw refused(Self.reason(errno)) }
    case .folder: throw refused("it is a folder")
    case .unreachable(let code): throw refused(Self.reason(code))
    case .file(let target):
      let parent = (target as NSString).deletingLastPathComponent
      let folder = parent.isEmpty ? "." : parent
      var status = stat()
      guard stat(folder, &status) == 0 else { throw refused("\(folder): \(Self.reason(errno))") }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw refused("\(folder) is no folder") }
      // A file is written beside the place, and renamed.
      guard access(folder, W_OK | X_OK) == 0 else { throw refused("\(folder): \(Self.reason(errno))") }
    }
  }

  private func refused(_ reason: String) -> UsageError {
    UsageError(
      "--report \(path): no report can be written there: \(reason)\n"
        + "help: make the folder, or name another place; nothing was done")
  }

  /// Writes the report. A reader that has gone is no fault: the report is kept all the same.
  func write(_ bytes: [UInt8]) throws(EngineFault) {
    switch kind {
    case .standardOutput: try put(bytes, to: STDOUT_FILENO)
    case .folder: throw failed("it is a folder")
    case .unreachable(let code): throw failed(Self.reason(code))
    case .file(let target):
      if let code = WholeWrite.failure(of: bytes, replacing: target) { throw failed(Self.reason(code)) }
    case .stream:
      // A FIFO that nobody reads would keep the run, and its sessions, for ever.
      let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failed(errno == ENXIO ? "nobody reads it" : Self.reason(errno)) }
      defer { close(descriptor) }
      try put(bytes, to: descriptor)
    }
  }

  private func put(_ bytes: [UInt8], to descriptor: Int32) throws(EngineFault) {
    guard let code = WholeWrite.failure(of: bytes, to: descriptor), code != EPIPE else { return }
    throw failed(Self.reason(code))
  }

  private func failed(_ reason: String) -> EngineFault {
    let place = path == "-" ? "the standard output" : path
    return EngineFault(.fault, "\(place): the report cannot be written: \(reason)")
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

import FerryPlan
import FerryReport
import FerryTransfer
import Foundation

/// The HTTP Archive of `--trace`. After each write, the file is a complete archive.
///
/// Each write replaces the end of the archive with entries and a new end. If a kill interrupts a write, the last entry
/// may be incomplete; the next run with the same file removes it.
///
/// `@unchecked Sendable`: after its creation, the object is used only on the thread of one `EventWriter`, except
/// `problem`, which is read after that thread has finished writing.
package final class TraceFile: @unchecked Sendable {
  /// The maximum size of the file in bytes.
  package static let defaultLimit: Int64 = 256 << 20
  /// The number of bytes at the end of a file that are read to find the last entry; larger than any entry.
  private static let tailSize: Int64 = 4 << 20

  private let limit: Int64
  private let descriptor: Int32
  /// The offset of the end of the last entry, or of the header.
  private var end: Int64
  private var isEmpty: Bool
  private var omitted = 0

  /// Opens the file, or creates it with mode 0600. An archive that ferry has written is continued.
  ///
  /// - Parameter version: ferry's version.
  package init(
    _ destination: ReportDestination, version: String, limit: Int64 = defaultLimit
  ) throws(UsageError) {
    self.limit = limit
    let path = destination.path
    func refused(_ reason: String) -> UsageError {
      UsageError(
        "--trace \(path): cannot be written: \(reason)\nhelp: specify another file; nothing was done")
    }
    let target: String
    switch destination.kind {
    case .file(let file): target = file
    case .descriptor, .stream: throw refused("it is not a regular file, or is open in this process")
    case .folder: throw refused("it is a folder")
    case .refused(let reason): throw refused(reason)
    case .unreachable(let code): throw refused(String(cString: strerror(code)))
    }
    let descriptor: Int32
    do throws(FolderPath.Failure) {
      descriptor = try FolderPath.file(Array(target.utf8), for: .updating, creationMode: 0o600)
    } catch {
      throw refused(error.reason)
    }
    do throws(UsageError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw refused("it is not a regular file")
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw refused("another run writes to it") }
      if status.st_size == 0 {
        (end, isEmpty) = (0, true)
      } else {
        guard let place = Self.end(of: descriptor, size: Int64(status.st_size)) else {
          throw refused("it contains something other than a ferry trace")
        }
        (end, isEmpty) = place
      }
      // The mode of an existing file may grant others access, because the umask applies only to new files.
      guard fchmod(descriptor, 0o600) == 0 else { throw refused(String(cString: strerror(errno))) }
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    guard end == 0 else { return }
    let header = HARText.header(version: version)
    // If this throws an error, `deinit` closes the file, because all properties have values.
    if let code = write(header + HARText.end(omitted: 0), at: 0) {
      throw refused(String(cString: strerror(code)))
    }
    end = Int64(header.count)
  }

  deinit { close(descriptor) }

  /// Appends entries, each of which is preceded by a separator. If the file would exceed `limit`, the entries are
  /// omitted and counted.
  ///
  /// - Returns: the error number if they cannot be written; the file then still has its previous content.
  func append(_ entries: [UInt8], count: Int) -> Int32? {
    guard end + Int64(entries.count) <= limit else {
      omitted += count
      return write(HARText.end(omitted: omitted), at: end)
    }
    // The line break of the separator also precedes the first entry.
    let new = isEmpty ? Array(entries.dropFirst()) : entries
    let ending = HARText.end(omitted: omitted)
    guard let code = write(new + ending, at: end) else {
      (end, isEmpty) = (end + Int64(new.count), false)
      return nil
    }
    // The space for the previous end is still allocated.
    _ = write(ending, at: end)
    return code
  }

  /// The reason why requests are missing; `nil` if none are missing.
  var problem: String? {
    omitted > 0
      ? "\(Count.text(omitted, "request")) not recorded, because the file has reached its limit of \(limit >> 20) MiB"
      : nil
  }

  /// Writes at an offset, and truncates the file after the written bytes.
  private func write(_ bytes: [UInt8], at offset: Int64) -> Int32? {
    var rest = bytes[...]
    var offset = offset
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return errno }
      rest = rest.dropFirst(count)
      offset += Int64(count)
    }
    return ftruncate(descriptor, off_t(offset)) == 0 ? nil : errno
  }

  /// The offset of the end of the last complete entry; `nil` if ferry has not written the file.
  private static func end(of descriptor: Int32, size: Int64) -> (offset: Int64, isEmpty: Bool)? {
    let header = read(descriptor, at: 0, count: 256)
    // The first write may have been interrupted before the end of its first line.
    let isHeaderOnly = size < 256 && (header.firstIndex(of: newline) ?? header.count) >= header.count - 1
    if isHeaderOnly, header.starts(with: HARText.start) || HARText.start.starts(with: header) {
      return (0, true)
    }
    guard header.starts(with: HARText.start), let headerEnd = header.firstIndex(of: newline) else {
      return nil
    }
    let start = max(Int64(headerEnd), size - tailSize)
    let tail = read(descriptor, at: start, count: Int(size - start))
    // The last line is the end of the archive. After an interrupted write, it consists of the beginning of the new
    // bytes and the rest of the previous end.
    let lines = tail.last == newline ? tail.dropLast() : tail[...]
    guard let lineBreak = lines.lastIndex(of: newline) else { return nil }
    let line = lines[lineBreak...].dropFirst()
    let entry = [",]}}", ",", ""].lazy.map { $0.utf8 }.filter { line.suffix($0.count).elementsEqual($0) }
      .map { line.dropLast($0.count) }
      .first { $0.starts(with: #"{""#.utf8) && (try? JSONParser.parse(Array($0))) != nil }
    if let entry { return (start + Int64(entry.endIndex), false) }
    let isAfterSeparator = lineBreak > 0 && tail[lineBreak - 1] == UInt8(ascii: ",")
    let offset = start + Int64(lineBreak)
    return (isAfterSeparator ? offset - 1 : offset, offset == Int64(headerEnd))
  }

  private static let newline = UInt8(ascii: "\n")

  private static func read(_ descriptor: Int32, at offset: Int64, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes {
        pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[filled...]).baseAddress, count - filled,
          off_t(offset) + off_t(filled))
      }
      guard got > 0 else { break }
      filled += got
    }
    return Array(bytes.prefix(filled))
  }
}

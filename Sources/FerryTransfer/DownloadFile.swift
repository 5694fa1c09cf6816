import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A download in progress: a temporary file next to its destination, which is renamed to the destination when it is
/// complete. If the download can be continued later, the file is a kept part (`DownloadFile+Part`): it remains after an
/// interruption.
///
/// `@unchecked Sendable`: only one thread at a time uses it. After the loop has passed the object to the thread that
/// stores the file, the loop does not use it until that thread has posted the result.
final class DownloadFile: @unchecked Sendable {
  let destination: String
  let folder: String
  let temporary: String
  private(set) var descriptor: CInt
  /// Whether the file is at its destination, has been removed, or remains as a kept part.
  private var isSettled = false
  /// The bytes of the document that the file has.
  private(set) var written = WrittenRanges()
  /// The number of bytes of the document that the file has.
  var size: Int64 { written.count }
  /// The size at which the free space is checked again.
  private var nextLook = lookInterval
  /// The record of a kept part; `nil` for any other file.
  private(set) var record: PartRecord?
  /// Whether the file is a part. It then ends with a record until it is stored.
  private let isPart: Bool
  /// The size at which the record is updated again. The record's own ranges may be fewer bytes, because a record has
  /// space for a limited number of ranges.
  private var nextRecord = recordInterval
  /// The number of bytes appended between two updates of the record.
  private static let recordInterval: Int64 = 1 << 20

  /// The number of bytes appended between two checks of the free space.
  private static let lookInterval: Int64 = 16 << 20
  /// A file of at most this size may use the space that is otherwise kept free.
  private static let smallFile: Int64 = 1 << 20

  /// Creates the temporary file. Fails with `destination` if a file cannot be created next to `destination`,
  /// or if the free space of the file system is less than the announced size.
  ///
  /// The temporary name is derived only from the destination, never from data sent by the server.
  init(_ destination: String, announced: Int64? = nil) throws(TransportFailure) {
    let path = SplitPath(destination)
    let name = path.name
    let folder = path.start.isEmpty ? "./" : path.start
    let prefix = TemporaryName.prefix(for: name)
    guard !name.isEmpty, name != ".", name != "..", !destination.utf8.contains(0) else {
      throw TransportFailure(
        .destination, "\(destination): this is not a file name", mayHaveReachedServer: false)
    }
    if let refusal = ReplacedFile.refusal(destination) {
      throw TransportFailure(.destination, "\(destination): \(refusal)", mayHaveReachedServer: false)
    }
    let replaced = ReplacedFile(destination)
    let (opened, temporary) = try Self.make(folder + prefix, mode: replaced.creationMode, for: destination)
    let code = replaced.restrict(opened)
    guard code == 0 else {
      close(opened)
      unlink(temporary)
      throw TransportFailure(
        .destination, "\(destination): \(SystemText.error(code))", mayHaveReachedServer: false)
    }
    Self.removeLeftovers(in: folder, prefix: prefix, replacing: replaced, but: temporary)
    self.destination = destination
    self.folder = folder
    self.temporary = temporary
    isPart = false
    descriptor = opened
    do throws(TransportFailure) {
      try checkSpace(for: announced ?? 0)
    } catch {
      discard()
      throw error
    }
  }

  /// A kept part.
  ///
  /// - Parameters:
  ///   - temporary: the path of the part.
  ///   - opened: the part, which this process has locked.
  init(_ destination: String, temporary: String, _ opened: CInt, _ record: PartRecord) {
    self.destination = destination
    let start = SplitPath(destination).start
    folder = start.isEmpty ? "./" : start
    self.temporary = temporary
    self.record = record
    isPart = true
    descriptor = opened
    written = record.written
    nextLook = size + Self.lookInterval
    nextRecord = size + Self.recordInterval
  }

  /// Fails with `destination` if fewer than `count` bytes are free. A large file must also leave a reserve free for
  /// other files.
  func checkSpace(for count: Int64) throws(TransportFailure) {
    // Some network file systems do not report their free space. If such a file system is full, the write
    // fails.
    guard let space = FreeSpace(descriptor) else { return }
    let reserve = max(count, size) > Self.smallFile ? space.reserve : 0
    guard space.available - reserve < count else { return }
    let need = count > 0 ? "the response needs \(count) bytes" : "the response is larger than \(size) bytes"
    let rest = reserve > 0 ? "; a download must leave \(reserve) of them free" : ""
    throw TransportFailure(
      .destination, "\(destination): \(need), but the file system has \(space.available) bytes free\(rest)",
      mayHaveReachedServer: true)
  }

  deinit { discard() }

  /// Creates a temporary file with a unique name and locks it.
  private static func make(
    _ prefix: String, mode: mode_t, for destination: String
  ) throws(TransportFailure) -> (descriptor: CInt, path: String) {
    // A process that removes leftovers may briefly hold the lock of a new file, but not of every new file in
    // turn.
    for _ in 0..<tries {
      let path = prefix + TemporaryName.random
      let opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
      guard opened >= 0 else {
        throw TransportFailure(
          .destination, "\(destination): \(SystemText.error(errno))", mayHaveReachedServer: false)
      }
      if claim(opened) { return (opened, path) }
      close(opened)
      unlink(path)
    }
    throw TransportFailure(
      .destination,
      "\(destination): another process locks every new file in its folder; find the process with fuser, or choose a different folder",
      mayHaveReachedServer: false)
  }

  private static let tries = 16

  /// Ends the work on the file, unless it was moved to its destination. A part remains if it has bytes; any other
  /// file is removed.
  private func discard() {
    let isKept = record.map { $0.written.count > 0 || size > 0 } ?? false
    if !isSettled, isKept, updateRecord() { isSettled = true }
    if descriptor >= 0, !isSettled {
      unlink(temporary)
      record = nil
    }
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    isSettled = true
  }

  /// Removes the file, even if it is a part that could be continued.
  func remove() {
    record = nil
    discard()
  }

  /// Ends the work on a part, which remains for a later attempt, and on any other file, which is removed.
  ///
  /// - Returns: the number of bytes of the document that the part has; 0 if no part remains.
  func suspend() -> Int64 {
    let remains = record != nil && !isSettled && size > 0
    discard()
    return remains ? record?.written.count ?? 0 : 0
  }

  /// Records how many bytes a part has. Returns whether they could be recorded.
  private func updateRecord() -> Bool {
    guard var record, descriptor >= 0 else { return false }
    record.written = written.recordable
    guard Self.write(record, to: descriptor) else { return false }
    self.record = record
    return true
  }

  /// The place at which the next bytes of a response are written.
  struct Position {
    /// The number of the next byte.
    var offset: Int64 = 0
    /// The end of the bytes that the response announces; `nil` if unknown.
    var end: Int64?
  }

  /// Writes bytes of the document. Fails with `malformedResponse` if a part would have bytes that the response did not
  /// announce. Its other bytes are then not trusted either, and it is removed.
  func append(_ bytes: UnsafeRawBufferPointer, at position: inout Position) throws(TransportFailure) {
    if record != nil, let end = position.end, Int64(bytes.count) > end - position.offset {
      record = nil
      throw TransportFailure(
        .malformedResponse, "the response continues after byte \(end - 1), the last one that it announced",
        mayHaveReachedServer: true)
    }
    var rest = bytes
    while let base = rest.baseAddress, !rest.isEmpty {
      let count = pwrite(descriptor, base, rest.count, off_t(position.offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw appendFailure(errno) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      let next = position.offset + Int64(count)
      written.insert(position.offset..<next)
      position.offset = next
    }
    if record != nil, size >= nextRecord {
      guard updateRecord() else { throw appendFailure(errno) }
      nextRecord = size + Self.recordInterval
    }
    guard size >= nextLook else { return }
    nextLook = size + Self.lookInterval
    do throws(TransportFailure) { try checkSpace(for: 0) } catch {
      record = nil
      throw error
    }
  }

  /// The failure to write to the file. A part is then removed, because the disk may be full.
  private func appendFailure(_ code: CInt) -> TransportFailure {
    record = nil
    return failure(code)
  }

  enum Stored: Sendable {
    case stored(FileVersion)
    /// The check refused the file for this reason. The existing file at the destination is kept.
    case refused(String)
  }

  /// Stores the file unless the check refuses it. If the result is not `stored`, the temporary file has
  /// already been removed, or remains as a kept part if it could not be stored.
  ///
  /// - Parameters:
  ///   - response: the response, without its body.
  ///   - interruption: ends the computation of the checksum.
  func store(
    _ response: TransferResponse, for request: TransferRequest, _ interruption: StoreInterruption
  ) -> Result<Stored, TransportFailure> {
    defer { discard() }
    do throws(TransportFailure) {
      var response = response
      if let expected = request.exactSize, expected != size {
        record = nil
        return .success(.refused("the document has \(size) bytes instead of \(expected)"))
      }
      if let checksum = request.checksum, let refusal = try refusal(response, checksum, interruption) {
        record = nil
        return .success(.refused(refusal))
      }
      if let check = request.check {
        if check.readsBody {
          response = response.replacing(
            body: try contents(limit: TransferRequest.DownloadCheck.bodyLimit))
        }
        if let refusal = check.refusal(response) {
          record = nil
          return .success(.refused(refusal))
        }
      }
    } catch {
      return .failure(error)
    }
    do throws(TransportFailure) {
      let modified = request.keepsModified ? Validator.modified(of: response) : nil
      return .success(.stored(try store(modified: modified)))
    } catch {
      return .failure(error)
    }
  }

  /// The bytes written so far.
  private func contents(limit: Int) throws(TransportFailure) -> [UInt8] {
    guard size <= limit else {
      record = nil
      throw TransportFailure(
        .responseTooLarge, "the body to check with 'expect' is larger than \(limit) bytes",
        mayHaveReachedServer: true
      )
    }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset, off_t(offset))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      offset += count
    }
    return bytes
  }

  /// Syncs the file, renames it to its destination and syncs the folder, in this order.
  ///
  /// - Parameter modified: the modification time that the file gets; `nil` for the current time.
  private func store(modified: Instant?) throws(TransportFailure) -> FileVersion {
    // The file to be replaced, or its mode, may have changed since the download began.
    if let refusal = ReplacedFile.refusal(destination) {
      throw TransportFailure(.destination, "\(destination): \(refusal)", mayHaveReachedServer: true)
    }
    if isPart { try removeRecord() }
    let restriction = ReplacedFile(destination).restrict(descriptor)
    guard restriction == 0 else { throw failure(restriction) }
    if let modified, !setModified(modified) { throw failure(errno) }
    // close(2) reports data that a network file system could not write.
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
    guard isNamed(status) else {
      isSettled = true
      close(descriptor)
      descriptor = -1
      throw TransportFailure(
        .destination, "\(destination): another process has replaced or removed its temporary file",
        mayHaveReachedServer: true)
    }
    let isSynced = fsync(descriptor) == 0
    let syncError = errno
    let isClosed = close(descriptor) == 0
    let closeError = errno
    descriptor = -1
    let code =
      !isSynced ? syncError : !isClosed ? closeError : rename(temporary, destination) == 0 ? 0 : errno
    guard code == 0 else {
      // The destination may be a folder.
      unlink(temporary)
      throw failure(code)
    }
    isSettled = true
    let directory = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard directory >= 0 else { throw failure(errno) }
    defer { close(directory) }
    // Some file systems cannot sync a folder and report EINVAL. They guarantee the order of a rename
    // themselves.
    guard fsync(directory) == 0 || errno == EINVAL else { throw failure(errno) }
    return FileVersion(status)
  }

  /// Whether the name of the temporary file still refers to the file. Otherwise, renaming it would store another file.
  private func isNamed(_ status: stat) -> Bool {
    var entry = stat()
    return lstat(temporary, &entry) == 0 && entry.st_dev == status.st_dev && entry.st_ino == status.st_ino
  }

  private func setModified(_ time: Instant) -> Bool {
    // HTTP dates have no fractions of a second (RFC 9110, section 5.6.7).
    let seconds = time.nanoseconds / 1_000_000_000
    let times = [
      timespec(tv_sec: time_t(seconds), tv_nsec: 0), timespec(tv_sec: time_t(seconds), tv_nsec: 0),
    ]
    return futimens(descriptor, times) == 0
  }

  /// Removes the record from a complete part, so that the file contains only the document. If no file is
  /// replaced, also gives the part the mode of a new file.
  private func removeRecord() throws(TransportFailure) {
    guard let record, size == record.size else {
      throw TransportFailure(
        .destination, "\(destination): the part is incomplete", mayHaveReachedServer: true)
    }
    // The sync takes most of the time. If ferry is killed during the sync, the part still has its record.
    self.record = nil
    guard fsync(descriptor) == 0, ftruncate(descriptor, off_t(record.size)) == 0 else { throw failure(errno) }
    let replaced = ReplacedFile(destination)
    guard replaced.creationMode != 0o600 else { return }
    guard let mode = try? Self.ordinaryMode(in: folder), fchmod(descriptor, mode) == 0 else {
      throw failure(errno)
    }
  }

  func failure(_ code: CInt) -> TransportFailure {
    let place = size > 0 && (code == ENOSPC || code == EDQUOT) ? " after \(size) bytes" : ""
    return TransportFailure(
      .destination, "\(destination): \(SystemText.error(code))\(place)", mayHaveReachedServer: true)
  }
}

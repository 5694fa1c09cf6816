import FerryPlan
import FerryProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Parts of downloads that remain after an interruption, so that the next attempt requests only the rest.
///
/// A part is a file next to the destination, and only the part's owner can read it. The name of a part
/// depends on the destination and on the session and node that download to it. Only the process that holds
/// the lock of a part (flock(2)) uses the part.
extension DownloadFile {
  /// Only documents of at least this size, in bytes, leave parts. With a smaller document, an interruption
  /// loses little.
  static let leastKeptSize: Int64 = 64 << 10

  /// Opens the part that an earlier attempt left; `nil` if there is no part that can be continued.
  static func kept(_ destination: String, owner: String) -> DownloadFile? {
    guard let path = keptPath(destination, owner: owner) else { return nil }
    // O_NONBLOCK: opening a FIFO would wait for its writer and block the loop.
    let opened = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { return nil }
    guard isOwn(opened, at: path) else {
      close(opened)
      return nil
    }
    // A part that was written before the system last started may have lost bytes.
    guard let record = record(in: opened), record.boot == SystemBoot.identifier else {
      unlink(path)
      close(opened)
      return nil
    }
    return DownloadFile(destination, temporary: path, opened, record)
  }

  /// Creates an empty part. Returns `nil` if the part cannot be created, for example because another process uses
  /// it. The download then cannot be continued after an interruption. Fails with `destination` if the free space
  /// is too small.
  static func part(
    _ destination: String, owner: String, _ record: PartRecord
  ) throws(TransportFailure) -> DownloadFile? {
    guard let path = keptPath(destination, owner: owner) else { return nil }
    func create() -> CInt { open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    var opened = create()
    // `kept` does not use a part without a record. ferry was killed when the part was complete, before it was renamed.
    if opened < 0, errno == EEXIST, removeLeftover(path, replacing: ReplacedFile(destination)) {
      opened = create()
    }
    guard opened >= 0 else { return nil }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0, isOwn(opened, at: path) else {
      close(opened)
      return nil
    }
    let file = DownloadFile(destination, temporary: path, opened, record)
    do throws(TransportFailure) {
      try file.checkSpace(for: record.size)
    } catch {
      file.remove()
      throw error
    }
    guard write(record, to: opened) else {
      file.remove()
      return nil
    }
    return file
  }

  fileprivate static func removePart(of destination: String, owner: String) -> Bool {
    guard let path = keptPath(destination, owner: owner) else { return false }
    return removeLeftover(path, replacing: ReplacedFile(destination))
  }

  private static func keptPath(_ destination: String, owner: String) -> String? {
    let path = SplitPath(destination)
    guard !path.name.isEmpty, path.name != ".", path.name != "..", !destination.utf8.contains(0),
      ReplacedFile.refusal(destination) == nil
    else { return nil }
    return (path.start.isEmpty ? "./" : path.start) + TemporaryName.kept(for: path.name, owner: owner)
  }

  /// Whether an open file is a part that this user has created and no other process uses.
  private static func isOwn(_ descriptor: CInt, at path: String) -> Bool {
    var (status, entry) = (stat(), stat())
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_mode & 0o077 == 0 && status.st_uid == geteuid() && status.st_nlink == 1
      && flock(descriptor, LOCK_EX | LOCK_NB) == 0
      // Before this process got the lock, another one may have completed or removed the part.
      && lstat(path, &entry) == 0 && entry.isSameEntry(as: status)
  }

  private static func record(in descriptor: CInt) -> PartRecord? {
    let end = lseek(descriptor, 0, SEEK_END)
    guard end > PartRecord.length else { return nil }
    var bytes = [UInt8](repeating: 0, count: PartRecord.length)
    let place = end - off_t(PartRecord.length)
    guard pread(descriptor, &bytes, bytes.count, place) == bytes.count, let record = PartRecord(bytes),
      record.size == Int64(place)
    else { return nil }
    return record
  }

  static func write(_ record: PartRecord, to descriptor: CInt) -> Bool {
    let bytes = record.bytes
    return pwrite(descriptor, bytes, bytes.count, off_t(record.size)) == bytes.count
  }

  /// The mode that a new file gets in this folder, according to the umask and the folder's default ACL.
  static func ordinaryMode(in folder: String) throws(TransportFailure) -> mode_t {
    let path = folder + TemporaryName.anonymous
    let opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    func failure() -> TransportFailure {
      TransportFailure(.destination, "\(folder): \(SystemText.error(errno))", mayHaveReachedServer: true)
    }
    guard opened >= 0 else { throw failure() }
    defer {
      unlink(path)
      close(opened)
    }
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw failure() }
    return status.st_mode & 0o777
  }
}

/// The kept parts of downloads, for commands that start no request.
package enum KeptPart {
  /// Removes the part of a download. Returns whether there was one; a part that a process uses remains.
  package static func remove(of destination: String, owner: String) -> Bool {
    DownloadFile.removePart(of: destination, owner: owner)
  }
}

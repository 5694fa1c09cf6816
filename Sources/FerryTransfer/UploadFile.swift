import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An open source file, which must match its listing while it is read.
final class UploadFile {
  let source: TransferRequest.FileSource
  private let descriptor: CInt
  /// The inode of the listed name, as `stat.entryInode(beneath:)` returns it. Found by the first check; `nil` if the name
  /// now belongs to something else.
  private(set) var inode: UInt64?
  private var isChecked = false

  /// Opens the file and compares it with its listing.
  ///
  /// Fails with `sourceMissing`, `sourceUnreadable` (including if it is not a regular file), `sourceChanged`
  /// (including if a link now leads out of the root) or, if ferry has too many open files, `connect`. A
  /// symbolic link to a file in the root is followed: the listing may contain links, and records the size and
  /// time of their targets.
  ///
  /// - Parameter check: `afterRead` if the caller reads the whole file immediately with `readAll`, which compares it with
  ///   its listing after the read. Another comparison before it would reveal nothing more.
  init(
    _ source: TransferRequest.FileSource, check time: FirstCheck = .beforeRead
  ) throws(TransportFailure) {
    do throws(SourceRoot.OpenFailure) {
      descriptor = try source.root.openFile(source.path)
    } catch {
      throw Self.failure(error, source)
    }
    self.source = source
    if time == .beforeRead { try check() }
  }

  /// When a file is compared with its listing for the first time.
  enum FirstCheck { case beforeRead, afterRead }

  deinit { close(descriptor) }

  /// Fails with `sourceChanged` if the size, the time or the identity differs from the listing, and with
  /// `sourceUnreadable` if this is no longer a regular file.
  func check() throws(TransportFailure) {
    var status = stat()
    guard Self.look(at: descriptor, &status) == 0 else { throw unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TransportFailure(
        .sourceUnreadable,
        "\(source.name): it is no longer a regular file; restore the file, or remove its replacement",
        mayHaveReachedServer: false)
    }
    guard Int64(status.st_size) == source.size, status.modifiedNanoseconds == source.modified else {
      throw changed(Int64(status.st_size))
    }
    let isLink = source.identity == status.identity(throughLink: true)
    guard isLink || source.identity == status.identity || source.identity == 0 else { throw replaced }
    guard !isChecked else { return }
    isChecked = true
    inode =
      source.identity == status.identity
      ? status.inode(beneath: source.root.device) : inode(ofEntryOf: status, mustBeLink: isLink)
  }

  /// The inode of the entry at the listed path; `nil` if the entry does not lead to the open file, or is not a link but must
  /// be one.
  ///
  /// The entry is the one through which this lookup found the open file. A separate lookup of the entry alone could find
  /// another user's link, because any user can exchange folders in a world-writable folder of the root.
  private func inode(ofEntryOf status: stat, mustBeLink: Bool) -> UInt64? {
    // If the lookup fails, the path no longer leads to the file.
    guard let target = try? source.root.target(of: source.path), let entry = target.entry,
      target.status.st_dev == status.st_dev, target.status.st_ino == status.st_ino,
      target.isLink || !mustBeLink
    else { return nil }
    return entry.entryInode(beneath: source.root.device)
  }

  /// Uses the same system call as the listing. libfaketime 0.9 shifts the times of fstat(2) but not of
  /// fstatat(2), so every file would appear to have changed.
  private static func look(at descriptor: CInt, _ status: inout stat) -> CInt {
    #if canImport(Darwin)
    fstat(descriptor, &status)
    #else
    // AT_EMPTY_PATH (linux/fcntl.h): the status of the open file itself.
    fstatat(descriptor, "", &status, 0x1000)
    #endif
  }

  /// Reads at most the buffer's size and returns the number of bytes read; never 0 before the end of the part to send.
  ///
  /// The file is compared with its listing after every read and before the bytes are passed on. The kernel
  /// sets a file's modification time before it changes the content, so bytes that pass the check are from
  /// the listed version, and a changed file is never passed on completely.
  ///
  /// - Parameter offset: counted from the start of the part to send.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) -> Int {
    let wanted = Int(min(Int64(buffer.count), source.length - offset))
    let position = (source.part?.lowerBound ?? 0) + offset
    guard wanted > 0, let base = buffer.baseAddress else { return 0 }
    var count = pread(descriptor, base, wanted, off_t(position))
    while count < 0, errno == EINTR { count = pread(descriptor, base, wanted, off_t(position)) }
    let code = errno
    // A pipe or a folder in place of the file is reported as such.
    try check()
    guard count >= 0 else { throw unreadable(code) }
    guard count > 0 else { throw changed(position) }
    return count
  }

  /// Reads the whole part to send. The buffer must be large enough to hold it.
  func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
    // No read follows that compares an empty file with its listing.
    if source.length == 0 { try check() }
    var offset = 0
    while offset < Int(source.length) {
      offset += try read(at: Int64(offset), into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
    }
  }

  /// The failure for a file that has changed.
  ///
  /// - Parameter size: the current size, in bytes.
  private func changed(_ size: Int64) -> TransportFailure {
    let how =
      size > source.size
      ? "has grown from \(source.size) to \(size) bytes"
      : size < source.size ? "has shrunk from \(source.size) to \(size) bytes" : "has been written to"
    return TransportFailure(
      .sourceChanged,
      "\(source.name): \(how) since it was listed; run ferry again when no other process is writing to it",
      mayHaveReachedServer: false)
  }

  /// The failure if another file now has this path, even with the same size and time.
  private var replaced: TransportFailure {
    TransportFailure(
      .sourceChanged,
      "\(source.name): it has been replaced by another file since it was listed; run ferry again to send that file",
      mayHaveReachedServer: false)
  }

  private static func failure(
    _ failure: SourceRoot.OpenFailure, _ source: TransferRequest.FileSource
  ) -> TransportFailure {
    switch failure {
    case .system(let code):
      TransportFailure(
        Self.code(code), "\(source.name): \(SystemText.error(code)); \(remedy(code))",
        mayHaveReachedServer: false)
    case .leavesRoot:
      TransportFailure(
        .sourceChanged,
        "\(source.name): since it was listed, the file or a folder above it has been replaced by a symbolic link that leads out of "
          + "the root; the target was not read. Restore the file, or change 'root'",
        mayHaveReachedServer: false)
    case .tooManySteps:
      TransportFailure(
        .sourceUnreadable, "\(source.name): \(LookupBudget.refusal)", mayHaveReachedServer: false)
    }
  }

  static func code(_ error: CInt) -> TransportFailure.Code {
    switch error {
    case ENOENT, ENOTDIR: .sourceMissing
    // The code is the same as for a connection for which no descriptor is free, because the cause is
    // temporary and not specific to the file.
    case EMFILE, ENFILE: .connect
    default: .sourceUnreadable
    }
  }

  /// A remedy for a file that cannot be opened.
  private static func remedy(_ code: CInt) -> String {
    switch code {
    case ENOENT, ENOTDIR: "the file existed when it was listed; restore it to send it"
    case EACCES, EPERM: "give the user that runs ferry read permission, and run ferry again"
    case EMFILE, ENFILE: "raise the limit on open files (ulimit -n), or reduce 'max_connections_per_host'"
    default: "run ferry again"
    }
  }

  private func unreadable(_ code: CInt) -> TransportFailure {
    TransportFailure(
      .sourceUnreadable, "\(source.name): \(SystemText.error(code)); \(Self.remedy(code))",
      mayHaveReachedServer: false)
  }
}

extension TransferRequest.FileSource {
  /// The path as messages show it.
  var name: String { DisplayPath.shown(root.path + [UInt8(ascii: "/")] + path) }
}

extension [UInt8] {
  /// Calls `body` with the bytes as a NUL-terminated path. A path that contains a NUL cannot exist, so the result is
  /// `ENOENT`.
  func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    var path = contains(0) ? [] : self
    path.append(0)
    return path.withUnsafeBytes { bytes in
      // An array of at least one byte has an address.
      bytes.withMemoryRebound(to: CChar.self) { chars in
        chars.baseAddress.map(body) ?? "".withCString(body)
      }
    }
  }
}

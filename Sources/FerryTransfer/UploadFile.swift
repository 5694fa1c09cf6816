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
  /// The inode found by the last check, as `stat.inode(beneath:)` returns it.
  private(set) var inode: UInt64 = 0

  /// Opens the file and compares it with its listing.
  ///
  /// Fails with `sourceMissing`, `sourceUnreadable` (also if it is not a regular file), `sourceChanged` (also
  /// if a link now leads out of the root) or `connect`, if ferry has too many files open. A symbolic link to
  /// a file in the root is followed: the list may name links, and it records the size and time of their
  /// targets.
  init(_ source: TransferRequest.FileSource) throws(TransportFailure) {
    do throws(SourceRoot.OpenFailure) {
      descriptor = try source.root.openFile(source.path)
    } catch {
      throw Self.failure(error, source)
    }
    self.source = source
    try check()
  }

  deinit { close(descriptor) }

  /// Fails with `sourceChanged` if the size or time differs from the listing.
  func check() throws(TransportFailure) {
    var status = stat()
    guard Self.look(at: descriptor, &status) == 0 else { throw unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TransportFailure(
        .sourceUnreadable,
        "\(source.name): no longer a regular file; restore the file, or remove what has taken its place",
        mayHaveReachedServer: false)
    }
    guard Int64(status.st_size) == source.size, status.modifiedNanoseconds == source.modified else {
      throw changed(Int64(status.st_size))
    }
    guard source.identity == 0 || status.identity == source.identity else { throw replaced }
    inode = status.inode(beneath: source.root.device)
  }

  /// Uses the same system call as the listing. libfaketime 0.9 shifts the times of fstat(2) but not those of
  /// fstatat(2), so every file would seem to have changed.
  private static func look(at descriptor: CInt, _ status: inout stat) -> CInt {
    #if canImport(Darwin)
    fstat(descriptor, &status)
    #else
    // AT_EMPTY_PATH (linux/fcntl.h): the status of the open file itself.
    fstatat(descriptor, "", &status, 0x1000)
    #endif
  }

  /// Reads at most the buffer's size and returns the number of bytes read; never 0 before the listed end.
  ///
  /// The file is compared with its listing after every read and before the bytes are passed on. The kernel
  /// sets a file's time before it changes the content, so bytes that pass the check are the listed ones, and
  /// a changed file is never passed on to its last byte.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) -> Int {
    let wanted = Int(min(Int64(buffer.count), source.size - offset))
    guard wanted > 0, let base = buffer.baseAddress else { return 0 }
    var count = pread(descriptor, base, wanted, off_t(offset))
    while count < 0, errno == EINTR { count = pread(descriptor, base, wanted, off_t(offset)) }
    guard count >= 0 else { throw unreadable(errno) }
    try check()
    guard count > 0 else { throw changed(offset) }
    return count
  }

  /// Reads the whole file. The buffer must be large enough.
  func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
    var offset = 0
    while offset < Int(source.size) {
      offset += try read(at: Int64(offset), into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
    }
  }

  /// - Parameter size: the current size, in bytes.
  private func changed(_ size: Int64) -> TransportFailure {
    let how =
      size > source.size
      ? "grew from \(source.size) to \(size) bytes"
      : size < source.size ? "shrank from \(source.size) to \(size) bytes" : "was written to"
    return TransportFailure(
      .sourceChanged,
      "\(source.name): \(how) since it was listed; run again once nobody writes to it",
      mayHaveReachedServer: false)
  }

  /// The failure if another file now has the name, whatever its size and time are.
  private var replaced: TransportFailure {
    TransportFailure(
      .sourceChanged,
      "\(source.name): another file took its place since it was listed; run again to send that one",
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
        "\(source.name): a symbolic link took its place, or a folder's above it, since it was listed, and leads out of "
          + "the root; nothing of what it leads to was read. Put the file back, or change 'root'",
        mayHaveReachedServer: false)
    }
  }

  private static func code(_ error: CInt) -> TransportFailure.Code {
    switch error {
    case ENOENT, ENOTDIR: .sourceMissing
    // The same code as for a connection that finds no free descriptor: the cause is temporary and not the
    // file's fault.
    case EMFILE, ENFILE: .connect
    default: .sourceUnreadable
    }
  }

  /// What the user can do about a file that cannot be opened.
  private static func remedy(_ code: CInt) -> String {
    switch code {
    case ENOENT, ENOTDIR: "it was there when it was listed, and is sent when it is there again"
    case EACCES, EPERM: "let the user that runs ferry read it, and run again"
    case EMFILE, ENFILE: "let ferry open more (ulimit -n), or lower 'max_connections_per_host'"
    default: "run again"
    }
  }

  private func unreadable(_ code: CInt) -> TransportFailure {
    TransportFailure(
      .sourceUnreadable, "\(source.name): \(SystemText.error(code)); \(Self.remedy(code))",
      mayHaveReachedServer: false)
  }
}

extension TransferRequest.FileSource {
  /// The path for messages.
  var name: String { DisplayPath.shown(root.path + [UInt8(ascii: "/")] + path) }
}

extension [UInt8] {
  /// Calls `body` with the bytes as a NUL-terminated path. A path that contains a NUL names nothing:
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

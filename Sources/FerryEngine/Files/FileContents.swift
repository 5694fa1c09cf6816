import FerryTransfer
import Foundation

/// A file to be read completely. It may be a regular file, a FIFO, a device, or a shell's `<(…)`.
package struct FileContents {
  /// The reason why the file could not be read.
  package struct Failure: Error {
    var code: Int32
    /// The reason why the file's location is rejected.
    var refusal: String?
    package var reason: String { refusal ?? FileLister.reason(code) }
  }

  /// Bytes per read; a pipe does not return more at once.
  private static let chunk = 64 << 10

  private let path: [CChar]

  package init(_ path: String) { self.path = FileLister.terminated(Array(path.utf8)) }

  /// Reads at most `limit` bytes, because a device may be endless. Waits for the writer of a FIFO.
  package func bytes(limit: Int) throws(Failure) -> [UInt8] {
    let descriptor = try open(for: .reading)
    // The file was only read, so closing it cannot lose data.
    defer { close(descriptor) }
    return try Self.bytes(of: descriptor, limit: limit)
  }

  /// Reads a file of at most `limit` bytes. Waits for the writer of a FIFO.
  func allBytes(limit: Int) throws(Failure) -> [UInt8] {
    let descriptor = try open(for: .reading)
    defer { close(descriptor) }
    return try Self.allBytes(of: descriptor, limit: limit)
  }

  /// Reads a regular file of at most `limit` bytes. Never waits.
  ///
  /// - Parameter isOwn: whether a file that belongs neither to this user nor to root is rejected.
  func bytesOfRegularFile(limit: Int, isOwn: Bool = false) throws(Failure) -> [UInt8] {
    let descriptor = try regularFile(isOwn: isOwn)
    defer { close(descriptor) }
    return try Self.allBytes(of: descriptor, limit: limit)
  }

  /// Opens a regular file without blocking.
  func regularFile(isOwn: Bool = false) throws(Failure) -> Int32 {
    let descriptor = try open(for: .readingAtOnce)
    var status = stat()
    let failure: Failure? =
      if fstat(descriptor, &status) != 0 {
        Failure(code: errno)
      } else if !status.isRegular {
        Failure(code: EINVAL, refusal: "it is not a regular file")
      } else if isOwn, ![0, geteuid()].contains(status.st_uid) {
        Failure(code: EACCES, refusal: "it belongs to another user")
      } else {
        nil
      }
    guard let failure else { return descriptor }
    close(descriptor)
    throw failure
  }

  private static func allBytes(of descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
    let bytes = try bytes(of: descriptor, limit: limit + 1)
    guard bytes.count <= limit else {
      throw Failure(code: EFBIG, refusal: "it is larger than \(limit) bytes")
    }
    return bytes
  }

  private static func bytes(of descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var status = stat()
    // The size is only an estimate of the capacity to reserve.
    if fstat(descriptor, &status) == 0, status.st_size > 0 {
      bytes.reserveCapacity(min(Int(status.st_size), limit))
    }
    var buffer = [UInt8](repeating: 0, count: Self.chunk)
    while bytes.count < limit {
      let wanted = min(buffer.count, limit - bytes.count)
      let count = try Self.uninterrupted { read(descriptor, &buffer, wanted) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  private func open(for access: FolderPath.Access) throws(Failure) -> Int32 {
    // The system treats the first NUL as the end of a path, so it would open a different file.
    guard path.firstIndex(of: 0) == path.count - 1 else { throw Failure(code: EINVAL) }
    do throws(FolderPath.Failure) {
      return try FolderPath.file(path.dropLast().map { UInt8(bitPattern: $0) }, for: access)
    } catch {
      switch error {
      case .system(let code): throw Failure(code: code)
      case .foreign, .severalNames: throw Failure(code: EACCES, refusal: error.reason)
      }
    }
  }

  /// The device and inode, with links followed; `nil` if the file does not exist.
  var identity: (device: UInt64, inode: UInt64)? {
    var status = stat()
    guard path.firstIndex(of: 0) == path.count - 1, stat(path, &status) == 0 else { return nil }
    return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
  }

  /// Repeats a call that a signal interrupted (EINTR).
  private static func uninterrupted<Number: SignedInteger>(
    _ call: () -> Number
  ) throws(Failure) -> Number {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      guard code == EINTR else { throw Failure(code: code) }
    }
  }
}

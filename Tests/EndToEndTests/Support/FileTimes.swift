import Foundation

/// A file's access and modification times, to the nanosecond.
struct FileTimes {
  private let path: String
  private let times: [timespec]

  init(of path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw CommandFailure(description: "there is no \(path)") }
    self.path = path
    times = [status.st_atim, status.st_mtim]
  }

  /// Restores the file's modification time.
  func restore() throws {
    guard utimensat(AT_FDCWD, path, times, 0) == 0 else {
      throw CommandFailure(description: "\(path): its time cannot be set")
    }
  }

  /// Sets a file's modification time, without changing its content.
  ///
  /// - Parameter seconds: the time in seconds since 1970.
  static func touch(_ path: String, seconds: Int) throws {
    let times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
    guard utimensat(AT_FDCWD, path, times, 0) == 0 else {
      throw CommandFailure(description: "\(path): its time cannot be set")
    }
  }

  /// Overwrites one byte of a file. Its size and modification time remain unchanged.
  static func change(_ path: String, byte: UInt64) throws {
    let times = try FileTimes(of: path)
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: byte)
    let old = try file.read(upToCount: 1)?.first ?? 0
    try file.seek(toOffset: byte)
    try file.write(contentsOf: Data([old ^ 1]))
    try file.close()
    try times.restore()
  }
}

import Foundation

/// The small files of a state folder that is divided into shards: two lines, a header and a value.
enum ShardFile {
  /// The value in a file; `nil` if the file does not exist.
  ///
  /// - Throws: `JournalError`, with the code `foreign` if the file does not have this form.
  static func value(in file: String, header: String) throws(JournalError) -> String? {
    guard access(file, F_OK) == 0 || errno != ENOENT else { return nil }
    let descriptor = try StateFile.open(file, O_RDONLY, doing: "read")
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw JournalError(errno: errno, doing: "read", file: file) }
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    guard lines.count == 2, lines[0] == header else {
      throw JournalError(.foreign, file: file, cause: "it does not begin with the line '\(header)'")
    }
    return String(lines[1])
  }

  /// Whether an open folder contains such a file of this user.
  static func exists(_ name: String, header: String, in folder: Int32) -> Bool {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid()
    else { return false }
    let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let line = Array((header + "\n").utf8)
    var bytes = [UInt8](repeating: 0, count: line.count)
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes == line
  }

  /// Writes a temporary file and syncs it, so that it is complete when it appears under its own name.
  static func write(_ value: String, header: String, to new: String) throws(JournalError) {
    let descriptor = try StateFile.open(new, O_RDWR | O_CREAT | O_TRUNC, doing: "create")
    defer { close(descriptor) }
    let text = Array("\(header)\n\(value)\n".utf8)
    guard pwrite(descriptor, text, text.count, 0) == text.count, fsync(descriptor) == 0 else {
      throw JournalError(errno: errno, doing: "write", file: new)
    }
  }
}

import Foundation

/// Reads a file line by line, so that the memory use does not grow with the size of the file.
enum LineReader {
  /// Calls `body` with each line, without its line feed.
  ///
  /// - Parameter longest: the maximum length, in bytes, of the part of a line that is kept until the rest of the line
  ///   is read.
  /// - Returns: the error number if the file could not be read; EFBIG if that part of a line is longer than `longest`.
  static func eachLine(
    of descriptor: Int32, longest: Int, _ body: (ArraySlice<UInt8>) throws -> Void
  ) rethrows -> Int32? {
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return errno }
      guard count > 0 else { break }
      var piece = buffer[..<count]
      while let end = piece.firstIndex(of: 0x0A) {
        if rest.isEmpty {
          try body(piece[..<end])
        } else {
          rest += piece[..<end]
          try body(rest[...])
          rest.removeAll(keepingCapacity: true)
        }
        piece = piece[(end + 1)...]
      }
      guard rest.count + piece.count <= longest else { return EFBIG }
      rest += piece
    }
    if !rest.isEmpty { try body(rest[...]) }
    return nil
  }
}

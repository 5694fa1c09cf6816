/// A manifest's bytes, and the offsets of its lines.
///
/// Lines end at the line breaks of libyaml (LF, CR, CRLF, NEL, LS, PS), so that libyaml's marks match.
package struct SourceText: Sendable {
  package let file: String
  /// The bytes without a byte order mark.
  package let bytes: [UInt8]
  private let lineStarts: [Int]
  /// For each very long line, by its number: the index of every `stride`th code point.
  private let milestones: [Int: [Int]]

  private static let stride = 1_024

  package init(_ bytes: [UInt8], file: String) {
    self.file = file
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    self.bytes = hasMark ? Array(bytes.dropFirst(3)) : bytes
    lineStarts = Self.lineStarts(of: self.bytes)
    milestones = Self.milestones(of: self.bytes, lineStarts: lineStarts)
  }

  /// The text of a line (starting at 1) without its line break; bytes that are not UTF-8 become U+FFFD.
  package func line(_ number: Int) -> String {
    String(decoding: bytes[range(ofLine: number)], as: UTF8.self)
  }

  /// At most `limit` code points of a line, starting at a column (counted from 1).
  ///
  /// A line can be 64 MiB long, and a caller that searches for the end of a word does not need all of it.
  package func text(line number: Int, from column: Int, limit: Int) -> String {
    let slice = bytes[range(ofLine: number)]
    let start = index(line: number, column: column)
    var index = start
    for _ in 0..<limit where index < slice.endIndex {
      index = Self.next(index, in: slice)
    }
    return String(decoding: slice[start..<index], as: UTF8.self)
  }

  /// The byte index of a line and column; the end of the line if the line is shorter.
  func index(line number: Int, column: Int) -> Int {
    let slice = bytes[range(ofLine: number)]
    var index = slice.startIndex
    var left = max(1, column) - 1
    if let known = milestones[number] {
      let passed = min(left / Self.stride, known.count - 1)
      index = known[passed]
      left -= passed * Self.stride
    }
    while left > 0, index < slice.endIndex {
      index = Self.next(index, in: slice)
      left -= 1
    }
    return min(index, slice.endIndex)
  }

  /// The byte index of the start of a line (counted from 1); nil after the last line.
  func start(ofLine number: Int) -> Int? {
    lineStarts.indices.contains(number - 1) ? lineStarts[number - 1] : nil
  }

  private func range(ofLine number: Int) -> Range<Int> {
    guard number >= 1, number <= lineStarts.count else { return 0..<0 }
    let start = lineStarts[number - 1]
    var end = number < lineStarts.count ? lineStarts[number] : bytes.count
    if number < lineStarts.count { end = Self.withoutLineEnd(bytes, start, end) }
    return start..<end
  }

  private static func withoutLineEnd(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
    switch bytes[end - 1] {
    case 0x0A: end - 2 >= start && bytes[end - 2] == 0x0D ? end - 2 : end - 1
    case 0x0D: end - 1
    case 0x85: end - 2
    default: end - 3
    }
  }

  private static func next(_ index: Int, in slice: ArraySlice<UInt8>) -> Int {
    var next = index + 1
    while next < slice.endIndex, slice[next] & 0xC0 == 0x80 { next += 1 }
    return next
  }
}

// MARK: - Lines

extension SourceText {
  private static func lineStarts(of bytes: [UInt8]) -> [Int] {
    var starts = [0]
    bytes.withUnsafeBufferPointer { bytes in
      var index = -1
      while index + 1 < bytes.count {
        index += 1
        let byte = bytes[index]
        if byte &- 0x0E < 0x72 { continue }
        let endsLine: Bool
        switch byte {
        case 0x0A: endsLine = true
        case 0x0D: endsLine = index + 1 >= bytes.count || bytes[index + 1] != 0x0A
        case 0x85: endsLine = index >= 1 && bytes[index - 1] == 0xC2
        case 0xA8, 0xA9: endsLine = index >= 2 && bytes[index - 1] == 0x80 && bytes[index - 2] == 0xE2
        default: endsLine = false
        }
        if endsLine { starts.append(index + 1) }
      }
    }
    return starts
  }

  private static func milestones(of bytes: [UInt8], lineStarts: [Int]) -> [Int: [Int]] {
    var milestones: [Int: [Int]] = [:]
    bytes.withUnsafeBufferPointer { bytes in
      for (number, start) in zip(1..., lineStarts) {
        let end = number < lineStarts.count ? lineStarts[number] : bytes.count
        guard end - start > 4 * stride else { continue }
        var found: [Int] = []
        var count = 0
        for index in start..<end where bytes[index] & 0xC0 != 0x80 {
          if count % stride == 0 { found.append(index) }
          count += 1
        }
        milestones[number] = found.isEmpty ? nil : found
      }
    }
    return milestones
  }
}

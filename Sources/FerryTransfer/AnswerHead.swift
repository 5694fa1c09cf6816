/// The header of one answer as its lines arrive, read when the answer is whole.
///
/// Of several headers in a row (100 Continue, a resend) the last is kept; trailers are left out.
struct AnswerHead {
  /// A server's header may not fill the memory.
  static let limit = 256 << 10

  private(set) var status = 0
  private var bytes: [UInt8] = []
  private var isWhole = false

  enum Line {
    /// A new header begins; whatever came before is not the answer.
    case first
    case next
    /// The header is whole.
    case last
    case tooMuch
  }

  /// Takes a line, with its line end.
  mutating func append(_ line: UnsafeRawBufferPointer) -> Line {
    if isStatusLine(line) {
      bytes.removeAll(keepingCapacity: true)
      isWhole = false
      status = Self.status(line)
      return .first
    }
    guard !isWhole else { return .next }
    guard line.first != UInt8(ascii: "\r"), line.first != UInt8(ascii: "\n") else {
      isWhole = true
      return .last
    }
    guard bytes.count + line.count <= Self.limit else { return .tooMuch }
    bytes.append(contentsOf: line)
    return .next
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isWhole = false
    status = 0
  }

  /// In the order received. Folded lines (RFC 9112, section 5.2) are joined, bytes that are not UTF-8
  /// replaced, and lines without a colon left out.
  var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    fields.reserveCapacity(8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let first = line.first else { continue }
      if first.isBlank {
        guard !fields.isEmpty else { continue }
        fields[fields.count - 1].value += " " + String(decoding: line.trimmed, as: UTF8.self)
        continue
      }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      fields.append(
        (
          name: String(decoding: line[..<colon].trimmed, as: UTF8.self),
          value: String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self)
        ))
    }
    return fields
  }

  /// What a header that is whole announces of its body; `nil` where it announces no number, where the
  /// number does not count (RFC 9112, section 6.3), and where the answer is not the last.
  var contentLength: Int64? {
    guard status >= 200, status != 204, status != 304 else { return nil }
    var length: Int64?
    for (name, value) in fields {
      switch name.lowercased() {
      case "transfer-encoding": return nil
      // Digits alone (RFC 9110, section 8.6): Int64 also reads a sign.
      case "content-length":
        length = value.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(value) : nil
      default: break
      }
    }
    return length
  }

  /// Only the first line of a header may begin so: no trailer or field name has a slash.
  private func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
    line.count >= 5 && line[4] == UInt8(ascii: "/") && line[0] == UInt8(ascii: "H")
      && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T") && line[3] == UInt8(ascii: "P")
  }

  private static func status(_ line: UnsafeRawBufferPointer) -> Int {
    guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return 0 }
    var status = 0
    for byte in line[(space + 1)...].prefix(3) {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return 0 }
      status = status * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return status
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
  /// Without blanks and carriage returns at the ends.
  fileprivate var trimmed: ArraySlice<UInt8> {
    var slice = self
    while let first = slice.first, first.isBlank { slice.removeFirst() }
    while let last = slice.last, last.isBlank || last == UInt8(ascii: "\r") { slice.removeLast() }
    return slice
  }
}

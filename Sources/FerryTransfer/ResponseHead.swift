/// The header section of one response. It collects lines as they arrive and parses them when the section has
/// ended.
///
/// If several header sections arrive in sequence (100 Continue, a resend), the last one is kept. Trailers
/// are dropped. All of them count towards the limits, because a server could send interim responses or
/// trailers endlessly.
///
/// This is a class, because each use of a struct with these fields would copy them.
final class ResponseHead {
  /// The limit in bytes for one hop.
  static let byteLimit = 256 << 10
  /// The limit in lines for one hop.
  static let lineLimit = 4096

  /// The status; 0 if the status line is not a valid HTTP status line (RFC 9112, section 4).
  private(set) var status = 0
  /// The maximum number of bytes of a reason phrase that are kept.
  static let reasonLimit = 1024
  /// The reason phrase, or its beginning; empty if the status is a success.
  private(set) var reason: [UInt8] = []
  /// Whether the reason phrase is longer than the kept part.
  private(set) var isReasonCut = false
  /// Whether the version in the status line is HTTP/2.
  private(set) var isHTTP2 = false
  private(set) var isHTTP10 = false
  /// Whether the empty line that ends the section has been received.
  private(set) var isWhole = false
  /// The fields in the order received; empty until the section has ended. Folded lines (RFC 9112, section
  /// 5.2) are joined, bytes that are not UTF-8 are replaced, and lines without a colon are dropped.
  private(set) var fields: [(name: String, value: String)] = []
  /// Whether a line could be interpreted as different fields by libcurl and in `fields`: whitespace before
  /// the colon (RFC 9112, section 5.1), or a folded field that frames the body.
  private(set) var isAmbiguous = false
  /// Whether a status line has been received.
  private var hasBegun = false
  private var bytes: [UInt8] = []
  private var byteCount = 0
  private var lineCount = 0

  enum Line {
    /// A new header section begins. Preceding lines are not part of the response.
    case first
    case next
    /// The section has ended.
    case last
    /// A limit is exceeded.
    case tooMuch
    /// A status line inside a header section. libcurl treats one that contains a colon as a field.
    case misplaced
  }

  /// Adds a line, including its line break.
  func append(_ line: UnsafeRawBufferPointer) -> Line {
    byteCount += line.count
    lineCount += 1
    guard byteCount <= Self.byteLimit, lineCount <= Self.lineLimit else { return .tooMuch }
    let isFinal = isWhole && status >= 200
    // After a final response, a line that looks like a status line is a trailer. A resend calls `startOver`
    // first.
    if !isFinal, isStatusLine(line) {
      guard !hasBegun || isWhole else { return .misplaced }
      startOver()
      hasBegun = true
      status = Self.status(line)
      keepReason(line)
      isHTTP2 = line.count > 5 && line[5] == UInt8(ascii: "2")
      isHTTP10 = line.count > 7 && line[5...7].elementsEqual("1.0".utf8)
      return .first
    }
    guard !isWhole else { return .next }
    guard line.first != UInt8(ascii: "\r"), line.first != UInt8(ascii: "\n") else {
      isWhole = true
      parseFields()
      return .last
    }
    // One allocation suffices for the header section of most responses.
    if bytes.isEmpty { bytes.reserveCapacity(512) }
    bytes.append(contentsOf: line)
    return .next
  }

  /// Drops everything, for another hop. The buffer is kept.
  func reset() {
    startOver()
    byteCount = 0
    lineCount = 0
  }

  /// Drops the received lines, such as a proxy's response to CONNECT. They still count towards the limits.
  func startOver() {
    bytes.removeAll(keepingCapacity: true)
    fields = []
    isAmbiguous = false
    isWhole = false
    hasBegun = false
    isHTTP2 = false
    isHTTP10 = false
    status = 0
    reason = []
    isReasonCut = false
  }

  /// Stores the reason phrase of a status line such as "HTTP/1.1 404 Not Found". HTTP/2 has no reason phrase. The
  /// phrase of a success is not stored, because it is not used.
  private func keepReason(_ line: UnsafeRawBufferPointer) {
    guard status >= 300 else { return }
    let afterVersion = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
    let phrase = afterVersion.drop { $0.isDigit }.drop(while: \.isBlank)
    let whole = phrase.prefix { !$0.isLineEnd }
    reason = Array(whole.prefix(Self.reasonLimit))
    isReasonCut = whole.count > Self.reasonLimit
  }

  private func parseFields() {
    fields.reserveCapacity(8)
    bytes.withUnsafeBufferPointer { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        parse(rest[..<end])
        rest = rest[end...].dropFirst()
      }
    }
  }

  private func parse(_ line: Slice<UnsafeBufferPointer<UInt8>>) {
    guard let first = line.first else { return }
    if first.isBlank {
      guard let last = fields.last else { return }
      if last.name.isField("transfer-encoding") || last.name.isField("content-length") {
        isAmbiguous = true
      }
      fields[fields.count - 1].value += " " + String(decoding: line.trimmed, as: UTF8.self)
      return
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    if colon > line.startIndex, line[colon - 1].isBlank { isAmbiguous = true }
    fields.append(
      (
        name: String(decoding: line[..<colon].trimmed, as: UTF8.self),
        value: String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self)
      ))
  }

  /// Only the first line of a header section can begin like this, because no field name contains a slash.
  private func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
    line.count >= 5 && line[4] == UInt8(ascii: "/") && line[0] == UInt8(ascii: "H")
      && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T") && line[3] == UInt8(ascii: "P")
  }

  private static func status(_ line: UnsafeRawBufferPointer) -> Int {
    // "HTTP/1.1 200 OK", or "HTTP/2 200 ", which libcurl composes itself.
    var rest = line.dropFirst("HTTP/".utf8.count)
    guard rest.popFirst()?.isDigit == true else { return 0 }
    if rest.first == UInt8(ascii: ".") {
      guard rest.dropFirst().first?.isDigit == true else { return 0 }
      rest = rest.dropFirst(2)
    }
    guard rest.first == UInt8(ascii: " ") else { return 0 }
    let digits = rest.dropFirst().prefix { $0.isDigit }
    guard digits.count == 3, let end = rest.dropFirst(4).first, end.isBlank || end.isLineEnd else { return 0 }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }
}

extension String {
  /// Whether this field name equals another one, ignoring the case of ASCII letters (RFC 9110, section 5.1).
  ///
  /// Names and values chosen by a server are compared by their bytes: comparing them as text takes quadratic
  /// time for a long run of combining marks.
  package func isField(named name: String) -> Bool {
    utf8.count == name.utf8.count && utf8.elementsEqual(name.utf8) { $0.lowercase == $1.lowercase }
  }

  /// Whether this field name equals `name`, which is in lowercase.
  func isField(_ name: StaticString) -> Bool {
    let expected = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    return utf8.count == expected.count
      && utf8.elementsEqual(expected) { byte, letter in
        byte == letter || (0x41...0x5A).contains(byte) && byte | 0x20 == letter
      }
  }
}

extension UInt8 {
  fileprivate var lowercase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
  fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
  fileprivate var isLineEnd: Bool { self == UInt8(ascii: "\r") || self == UInt8(ascii: "\n") }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  /// The bytes without leading spaces and tabs, and without trailing spaces, tabs and carriage returns.
  fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
    var (start, end) = (startIndex, endIndex)
    while start < end, base[start].isBlank { start += 1 }
    while start < end, base[end - 1].isBlank || base[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return UnsafeBufferPointer(rebasing: base[start..<end])
  }
}

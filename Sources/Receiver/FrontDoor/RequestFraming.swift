/// Tracks the requests on one connection: the end of each head, and the length of its body (RFC 9112).
///
/// FlyingFox reads heads of any length and does not support `Expect: 100-continue`, so both are handled here
/// before FlyingFox receives a byte. Every forwarded head gets an additional field with the connection on
/// which the request arrived.
struct RequestFraming {
  /// The reason why a request is not forwarded. The connection ends with a response that has the
  /// corresponding ``status``.
  enum Refusal: Error, Equatable {
    case malformed
    case headTooLarge
    case unknownCoding
    case unknownVersion

    var status: String {
      switch self {
      case .malformed: "400 Bad Request"
      case .headTooLarge: "431 Request Header Fields Too Large"
      case .unknownCoding: "501 Not Implemented"
      case .unknownVersion: "505 HTTP Version Not Supported"
      }
    }
  }

  /// The maximum length of a head, and of a trailer, in bytes.
  static let headLimit = 64 * 1024
  /// The maximum length of a line with the size of a chunk, in bytes.
  private static let chunkLineLimit = 4096

  private enum Phase {
    case head
    case body(left: Int)
    case chunkSize
    case chunk(left: Int)
    case trailer
  }

  /// The field that is added to every head, without its line break.
  let mark: String
  private var phase = Phase.head
  /// The part of the head, or of the current line of a chunked body, that has been received.
  private var gathered: [UInt8] = []
  /// The start of the last line in `gathered`.
  private var lineStart = 0

  init(mark: String) {
    self.mark = mark
  }

  /// Whether the bytes received so far end between two requests.
  var isBetweenRequests: Bool {
    if case .head = phase { return gathered.isEmpty }
    return false
  }

  /// Forwards the bytes of a client to `output`.
  ///
  /// Returns whether the client waits for `100 Continue` before it sends more bytes.
  mutating func pass(_ input: ArraySlice<UInt8>, to output: inout ByteQueue) throws(Refusal) -> Bool {
    var rest = input
    var awaitsContinue = false
    while !rest.isEmpty {
      switch phase {
      case .head:
        guard let head = try takeHead(from: &rest) else { return awaitsContinue }
        output.append("\(head.text)\(mark)\r\n\r\n".utf8)
        phase = head.framing
        awaitsContinue = head.expectsContinue && rest.isEmpty
      case .body(let left):
        phase = .body(left: left - move(left, of: &rest, to: &output))
      case .chunkSize:
        guard let line = try takeLine(from: &rest, limit: Self.chunkLineLimit) else { return awaitsContinue }
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard let size = Self.number(digits, radix: 16) else { throw .malformed }
        output.append(line)
        output.append("\r\n".utf8)
        // The chunk includes its line break.
        phase = size == 0 ? .trailer : .chunk(left: size + 2)
      case .chunk(let left):
        let remaining = left - move(left, of: &rest, to: &output)
        phase = remaining == 0 ? .chunkSize : .chunk(left: remaining)
      case .trailer:
        guard let line = try takeLine(from: &rest, limit: Self.headLimit) else { return awaitsContinue }
        // Trailer fields are dropped, as RFC 9110 section 6.5.1 allows.
        if line.isEmpty {
          output.append("\r\n".utf8)
          phase = .head
        }
      }
      if case .body(left: 0) = phase { phase = .head }
    }
    return awaitsContinue
  }

  private struct Head {
    let text: String
    let framing: Phase
    let expectsContinue: Bool
  }

  private func move(_ limit: Int, of rest: inout ArraySlice<UInt8>, to output: inout ByteQueue) -> Int {
    let piece = rest.prefix(limit)
    output.append(piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }

  /// Collects a head up to its empty line; nil until that line has been received.
  private mutating func takeHead(from rest: inout ArraySlice<UInt8>) throws(Refusal) -> Head? {
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      gathered.append(contentsOf: rest[...end])
      rest = rest[(end + 1)...]
      guard gathered.count <= Self.headLimit else { throw .headTooLarge }
      let line = gathered[lineStart...]
      if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) {
        gathered.removeSubrange(lineStart...)
        lineStart = 0
        // Empty lines before a request line are skipped (RFC 9112, section 2.2).
        if gathered.isEmpty { continue }
        defer { gathered.removeAll(keepingCapacity: true) }
        return try read(gathered)
      }
      lineStart = gathered.count
    }
    gathered.append(contentsOf: rest)
    rest = []
    guard gathered.count <= Self.headLimit else { throw .headTooLarge }
    return nil
  }

  /// Collects one line and returns it without its line break; nil until the line is complete.
  private mutating func takeLine(
    from rest: inout ArraySlice<UInt8>, limit: Int
  ) throws(Refusal) -> [UInt8]? {
    let end = rest.firstIndex(of: UInt8(ascii: "\n"))
    gathered.append(contentsOf: rest[..<(end ?? rest.endIndex)])
    rest = end.map { rest[($0 + 1)...] } ?? []
    guard gathered.count <= limit else { throw .headTooLarge }
    guard end != nil else { return nil }
    defer { gathered.removeAll(keepingCapacity: true) }
    return gathered.last == UInt8(ascii: "\r") ? gathered.dropLast() : gathered
  }

  private func read(_ head: [UInt8]) throws(Refusal) -> Head {
    guard let text = String(validating: head, as: UTF8.self) else { throw .malformed }
    // A CRLF is one Character, so lines are split by scalars.
    let lines = text.unicodeScalars.split(separator: "\n").map { Self.trimmed(Substring($0)) }
    let request = lines.first?.split(separator: " ") ?? []
    guard request.count == 3, let version = request.last else { throw .malformed }
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .unknownVersion }

    var length: Int?
    var isChunked = false
    var expectsContinue = false
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = Self.trimmed(line[line.index(after: colon)...])
      switch Self.trimmed(line[..<colon]).lowercased() {
      case "content-length":
        guard length == nil, let number = Self.number(Array(value.utf8), radix: 10) else { throw .malformed }
        length = number
      case "transfer-encoding":
        guard !isChunked, value.lowercased() == "chunked" else { throw .unknownCoding }
        isChunked = true
      case "expect":
        expectsContinue = value.lowercased() == "100-continue" && version == "HTTP/1.1"
      default: break
      }
    }
    // Requests with both `Content-Length` and `Transfer-Encoding` are used for request smuggling (RFC 9112,
    // section 6.1).
    if isChunked && length != nil { throw .malformed }
    let hasBody = isChunked || (length ?? 0) > 0
    return Head(
      text: text, framing: isChunked ? .chunkSize : .body(left: length ?? 0),
      expectsContinue: expectsContinue && hasBody)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text[...]
    while let first = text.unicodeScalars.first, isBlank(first) { text.unicodeScalars.removeFirst() }
    while let last = text.unicodeScalars.last, isBlank(last) { text.unicodeScalars.removeLast() }
    return text
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\r"
  }

  /// A number that consists only of digits; nil for signs, spaces and overflow.
  private static func number(_ digits: some Collection<UInt8>, radix: Int) -> Int? {
    let decimal = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
    let areDigits = digits.allSatisfy { decimal.contains($0) || (radix == 16 && letters.contains($0 | 0x20)) }
    guard !digits.isEmpty, areDigits else { return nil }
    // Leaves room for the two bytes of a chunk's line break.
    return Int(String(decoding: digits, as: UTF8.self), radix: radix).flatMap { $0 < Int.max - 2 ? $0 : nil }
  }
}

import CCurl

/// The URL of an easy handle, parsed in advance (CURLOPT_CURLU).
///
/// libcurl parses the text of CURLOPT_URL for each transfer and composes it again. With a parsed URL, it only copies the
/// parts. The requests of a batch differ in their paths, so the rest is parsed only once.
final class ParsedURL {
  let handle: OpaquePointer
  /// The beginning of the URL in `handle`, up to its path; empty if it must not be reused.
  private var base: [UInt8] = []

  /// Returns `nil` if memory is exhausted.
  init?() {
    guard let handle = curl_url() else { return nil }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// Parses a URL. Returns `false` if libcurl rejects it.
  func set(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard let start = Self.startOfPath(bytes) else { return parse(bytes, base: 0) }
      let path = UnsafeBufferPointer(rebasing: bytes[start...])
      guard start == base.count, base.elementsEqual(bytes[..<start]), Self.isPlain(path) else {
        return parse(bytes, base: start)
      }
      return Self.withCString(path) { curl_url_set(handle, CURLUPART_PATH, $0, 0) == CURLUE_OK }
    }
  }

  private func parse(_ bytes: UnsafeBufferPointer<UInt8>, base end: Int) -> Bool {
    base = []
    let isParsed = Self.withCString(bytes) { curl_url_set(handle, CURLUPART_URL, $0, 0) == CURLUE_OK }
    // Setting a path leaves the query and the fragment of the last URL in place.
    let hasMore = bytes.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    if isParsed, !hasMore { base = Array(bytes[..<end]) }
    return isParsed
  }

  /// The index of the slash at which the path of an absolute URL begins; `nil` if the URL has no path.
  private static func startOfPath(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var slashes = 0
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "?"), UInt8(ascii: "#"): return nil
      case UInt8(ascii: "/"):
        slashes += 1
        if slashes == 3 { return index }
      default: break
      }
    }
    return nil
  }

  /// Whether libcurl uses a path exactly as it is written, also if it is set alone: without a query, a fragment, a dot
  /// segment, and percent-encoding, whose letters `curl_url_set` changes to lower case.
  private static func isPlain(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for byte in path {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        break
      case UInt8(ascii: "."), UInt8(ascii: "/"): if previous == UInt8(ascii: "/") { return false }
      default: return false
      }
      previous = byte
    }
    return true
  }

  private static func withCString<Result>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { copy in
      for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[bytes.count] = 0
      // The allocation has at least one byte, so it has an address.
      return copy.baseAddress.map { body($0) } ?? "".withCString(body)
    }
  }
}

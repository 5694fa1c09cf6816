import CCurl
import FerryPlan

/// A URL parsed and resolved by libcurl's own parser (`curl_url`), so that checks apply to exactly the URL
/// that libcurl will use.
struct CurlURL: ~Copyable {
  private let handle: OpaquePointer

  /// Returns `nil` if the text is not an absolute URL.
  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
      curl_url_cleanup(handle)
      return nil
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// Resolves a `Location` value, absolute or relative, against this URL. Returns `false` if it is not a URL
  /// reference.
  func resolve(_ location: String) -> Bool {
    // These are the flags with which libcurl itself follows redirects, because servers send spaces and raw
    // UTF-8.
    let flags = UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE)
    return curl_url_set(handle, CURLUPART_URL, location, flags) == CURLUE_OK
  }

  var text: String? { part(CURLUPART_URL) }

  /// The origin of the URL. If the URL does not specify a port, the scheme's default port is used.
  var origin: Origin? {
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
      let port = part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) })
    else { return nil }
    return Origin(scheme: scheme.lowercased(), host: host.lowercased(), port: port)
  }

  /// The value of the Host field that libcurl sends: the host, and the port unless it is the scheme's default port.
  var hostField: String? {
    guard let host = part(CURLUPART_HOST), let origin else { return nil }
    let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
    return isDefault ? host : "\(host):\(origin.port)"
  }

  /// The path as it is sent; at least `/`.
  var path: String { part(CURLUPART_PATH) ?? "/" }

  /// The query as it is sent, without the question mark; `nil` if there is none.
  var query: String? { part(CURLUPART_QUERY) }

  /// The user name and password in the URL; `nil` if there are none.
  var userinfo: Userinfo? {
    let (user, password) = (part(CURLUPART_USER), part(CURLUPART_PASSWORD))
    guard user != nil || password != nil else { return nil }
    return Userinfo(user: user ?? "", password: password)
  }

  /// Replaces the user name and password; `nil` removes them.
  func set(_ userinfo: Userinfo?) {
    curl_url_set(handle, CURLUPART_USER, userinfo?.userText, 0)
    curl_url_set(handle, CURLUPART_PASSWORD, userinfo?.passwordText, 0)
  }

  private func part(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

extension Origin {
  /// `host:port`, for messages. Messages must not contain a URL's query or userinfo.
  var address: String { "\(host):\(port)" }
}

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

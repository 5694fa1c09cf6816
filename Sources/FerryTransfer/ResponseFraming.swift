/// How the end of a response body is determined (RFC 9112, section 6.3).
///
/// libcurl reads `Content-Length: 3, 10` and `3x` as 3, ignores a number that is too large, and prefers
/// `Transfer-Encoding` to `Content-Length`. A body that libcurl reports as complete may therefore be truncated or
/// include another response.
enum ResponseFraming: Equatable {
  /// There is no body: the response is to HEAD, or its status is 204 or 304.
  case noBody
  /// The body ends after `Content-Length` bytes.
  case length(Int64)
  /// The body ends with the last chunk; libcurl checks it.
  case chunked
  /// The body ends with the connection, or with the stream in HTTP/2. A broken connection cannot be distinguished from
  /// such an end, and libcurl 7.88 treats RST_STREAM with NO_ERROR as the end of a stream.
  case untilClose
  /// The framing is invalid, for this reason.
  case invalid(String)

  /// - Parameters:
  ///   - head: the complete header section of a final response.
  ///   - method: the method of the request.
  init(_ head: ResponseHead, method: String) {
    guard method != "HEAD", head.status != 204, head.status != 304 else {
      self = .noBody
      return
    }
    guard !head.isAmbiguous else {
      self = .invalid(
        "the response has whitespace before the colon of a header field, or folds a field that frames its body"
      )
      return
    }
    var lengths: [Substring] = []
    var codings: [Substring] = []
    let fields = head.fields
    // By index, because a loop over the fields would copy each of them.
    for index in fields.indices {
      if fields[index].name.isField("content-length") { lengths += Self.members(of: fields[index].value) }
      if fields[index].name.isField("transfer-encoding") { codings += Self.members(of: fields[index].value) }
    }
    if codings.isEmpty {
      self = Self.framing(lengths: lengths) ?? .untilClose
    } else if !lengths.isEmpty {
      self = .invalid("the response has both Content-Length and Transfer-Encoding")
    } else if head.isHTTP10 {
      self = .invalid("the response is HTTP/1.0 and has Transfer-Encoding")
    } else if codings.count == 1, String(codings[0]).isField("chunked") {
      self = .chunked
    } else {
      self = .invalid("the response has a Transfer-Encoding that was not requested")
    }
  }

  /// Returns `nil` without a `Content-Length`. A repeated identical number is treated as one (RFC 9110,
  /// section 8.6).
  private static func framing(lengths: [Substring]) -> Self? {
    guard let first = lengths.first else { return nil }
    guard lengths.allSatisfy({ $0.utf8.elementsEqual(first.utf8) }) else {
      return .invalid("the response has several different Content-Length values")
    }
    guard !first.isEmpty, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(first)
    else {
      return .invalid("the response's Content-Length is not a number of bytes")
    }
    return .length(length)
  }

  /// The members of a list, including empty ones.
  private static func members(of value: String) -> [Substring] {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    // Most values are one member, which need not be split.
    if value.allBytes({ !isBlank($0) && $0 != UInt8(ascii: ",") }) { return [value[...]] }
    return value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { member in
      let start = member.drop(while: isBlank)
      return start.lastIndex { !isBlank($0) }.map { Substring(start[...$0]) } ?? ""
    }
  }
}

/// How the end of a response's body is recognized (RFC 9112, section 6.3).
///
/// libcurl reads `Content-Length: 3, 10` and `3x` as 3, ignores a number that is too large, and prefers
/// `Transfer-Encoding` to `Content-Length`. A body that it reports as complete may therefore be truncated or
/// include another response.
enum ResponseFraming: Equatable {
  /// No body: the response is to HEAD, or its status is 204 or 304.
  case noBody
  /// `Content-Length`, in bytes.
  case length(Int64)
  /// The last chunk ends the body; libcurl checks it.
  case chunked
  /// The end of the connection, or of the stream in HTTP/2, ends the body. A broken connection looks the
  /// same, and libcurl 7.88 treats RST_STREAM with NO_ERROR as the end of a stream.
  case untilClose
  /// Carries the reason.
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
        "the response has a blank before a header field's colon, or folds a field that frames its body")
      return
    }
    var lengths: [Substring] = []
    var codings: [Substring] = []
    for (name, value) in head.fields {
      if name.isField("content-length") { lengths += Self.members(of: value) }
      if name.isField("transfer-encoding") { codings += Self.members(of: value) }
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

  /// `nil` without a `Content-Length`. The same number given several times counts once (RFC 9110, section
  /// 8.6).
  private static func framing(lengths: [Substring]) -> Self? {
    guard let first = lengths.first else { return nil }
    guard lengths.allSatisfy({ $0.utf8.elementsEqual(first.utf8) }) else {
      return .invalid("the response has several Content-Lengths that differ")
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
    return value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { member in
      let start = member.drop(while: isBlank)
      return start.lastIndex { !isBlank($0) }.map { Substring(start[...$0]) } ?? ""
    }
  }
}

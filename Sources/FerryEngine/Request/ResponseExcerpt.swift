import FerryPlan
import FerryTransfer

/// Makes texts of a response and URLs safe to show: masked, printable, on one line, and of limited length.
///
/// A server chooses these strings. They are masked before they are cut, because a secret that was cut would
/// not be recognized.
enum ResponseExcerpt {
  /// The maximum length of a body's beginning, in bytes of UTF-8.
  static let bodyLimit = 300
  /// The maximum length of a reason phrase, in bytes of UTF-8.
  static let reasonLimit = 100
  /// The maximum length of a URL, in bytes of UTF-8.
  static let urlLimit = 1000
  /// The number of bytes at the start of a body that are examined and masked before the excerpt is cut from them.
  static let examined = 1024

  /// A string on one line: runs of white space become one space, and characters that a terminal interprets
  /// are shown as escapes. If it is longer than the limit, it is cut between two characters and ends with
  /// `…`.
  ///
  /// - Parameter isCut: whether the bytes are only the beginning of the text.
  static func line(_ bytes: [UInt8], isCut: Bool, limit: Int) -> String? {
    var spaced: [UInt8] = []
    for byte in bytes {
      let isBlank = byte == 0x20 || (0x09...0x0D).contains(byte)
      if !isBlank { spaced.append(byte) } else if spaced.last != 0x20, !spaced.isEmpty { spaced.append(0x20) }
    }
    if spaced.last == 0x20 { spaced.removeLast() }
    guard !spaced.isEmpty else { return nil }
    return cut(DisplayPath.line(String(decoding: spaced, as: UTF8.self)), isCut: isCut, limit: limit)
  }

  /// The text, shortened to the limit with a `…` at its end if it is longer or incomplete.
  private static func cut(_ text: String, isCut: Bool, limit: Int) -> String {
    guard text.utf8.count > limit else { return isCut ? text + "…" : text }
    var length = 0
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      length += UTF8.width(scalar)
      guard length <= limit else { break }
      kept.append(scalar)
    }
    return String(kept) + "…"
  }

  /// Whether the body of a response is text. If so, its beginning may be shown.
  static func isText(_ response: TransferResponse) -> Bool {
    response.unrequestedCoding == nil && isText(response.body, type: response.header("Content-Type"))
  }

  /// Whether a body with this `Content-Type` is text.
  static func isText(_ body: [UInt8], type: String?) -> Bool {
    guard !body.contains(0) else { return false }
    guard let type else {
      // A body that was cut may end inside a character.
      return isUTF8(body.prefix(examined))
    }
    let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    return media.hasPrefix("text/") || media.hasSuffix("+json") || media.hasSuffix("+xml")
      || ["application/json", "application/xml", "application/x-www-form-urlencoded"].contains(media)
  }

  /// Whether the bytes are UTF-8; the last character may be incomplete.
  private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    var whole = bytes
    if let last = bytes.suffix(3).lastIndex(where: { $0 >= 0xC0 }) { whole = bytes[..<last] }
    return String(validating: bytes, as: UTF8.self) != nil
      || (bytes.dropFirst(whole.count + 1).allSatisfy { 0x80...0xBF ~= $0 }
        && String(validating: whole, as: UTF8.self) != nil)
  }

  /// The URL without its user name, password and fragment, and with `***` for each value in its query.
  static func shown(_ url: String) -> String {
    var url = URLReference(url)
    url.removeUserinfo()
    url.fragment = nil
    url.query = url.query.map { query in
      query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { field in
        guard let equals = field.firstIndex(of: UInt8(ascii: "=")) else { return field.isEmpty ? "" : "***" }
        return String(Substring(field[...equals])) + (equals == field.indices.last ? "" : "***")
      }.joined(separator: "&")
    }
    return url.description
  }

  /// A masked URL that `shown` returned, on one line.
  static func line(ofURL url: String) -> String { cut(DisplayPath.line(url), isCut: false, limit: urlLimit) }
}

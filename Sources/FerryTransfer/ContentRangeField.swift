import FerryPlan

/// The value of a `Content-Range` field that states the position of a part in a document: `bytes 0-99/1000` (RFC 9110,
/// section 14.4).
struct ContentRangeField: Equatable {
  var first: Int64
  var last: Int64
  var size: Int64

  /// Returns `nil` for any other value, including one without a size.
  init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let range = parts[1].split(separator: "/", omittingEmptySubsequences: false)
    guard range.count == 2 else { return nil }
    let ends = range[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      let size = Self.number(range[1]), first <= last, last < size
    else { return nil }
    (self.first, self.last, self.size) = (first, last, size)
  }

  private static func number(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits)
  }
}

/// The part of a file that a `Range` field requests (RFC 9110, section 14).
enum ByteRange: Equatable {
  /// The whole file: the field is absent or invalid, or requests several parts.
  case whole
  case part(Range<Int>)
  /// The file does not contain the requested range.
  case unsatisfiable

  /// Reads `bytes=0-99`, `bytes=100-` and `bytes=-100` for a file of `size` bytes.
  init(_ field: String?, size: Int) {
    self = Self.parse(field, size: size) ?? .whole
  }

  private static func parse(_ field: String?, size: Int) -> ByteRange? {
    guard let field, field.lowercased().hasPrefix("bytes="), !field.contains(",") else { return nil }
    let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
      .map { $0.filter { $0 != " " } }
    guard ends.count == 2, let first = ends.first, let last = ends.last else { return nil }
    guard (first + last).allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    if first.isEmpty {
      guard let count = Int(last) else { return nil }
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    }
    guard let lower = Int(first) else { return nil }
    guard !last.isEmpty else { return lower < size ? .part(lower..<size) : .unsatisfiable }
    guard let upper = Int(last), upper >= lower else { return nil }
    return lower < size ? .part(lower..<min(upper, size - 1) + 1) : .unsatisfiable
  }
}

import Foundation

/// The fields of a query or of a form body (`application/x-www-form-urlencoded`).
///
/// `+` means a space, as in browsers and most servers; a plus sign is `%2B`.
struct FormFields: Equatable {
  private var values: [String: String] = [:]

  /// Parses `a=1&b=2`. If a name occurs more than once, its first valid value is used. Fields that are not
  /// valid UTF-8 are omitted.
  init(_ text: String) {
    for field in text.split(separator: "&") {
      let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = sides.first.flatMap(Self.decoded) else { continue }
      let value = sides.count > 1 ? sides.last.flatMap(Self.decoded) : ""
      if let value, values[name] == nil { values[name] = value }
    }
  }

  subscript(name: String) -> String? { values[name] }

  private static func decoded(_ text: Substring) -> String? {
    String(text.map { $0 == "+" ? " " : $0 }).removingPercentEncoding
  }
}

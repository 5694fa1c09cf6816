import FerryDigest

/// A function that a reference applies to its value, as in `${file.path | url}`.
///
/// The raw value is its name in the manifest.
package enum ReferenceFilter: String, Hashable, Codable, Sendable, CaseIterable {
  /// Percent-encoding of a path (RFC 3986, section 2.1): everything except unreserved characters and `/`.
  case url
  /// Percent-encoding of a component: everything except unreserved characters.
  case query
  /// Base64 with padding (RFC 4648, section 4).
  case base64
  /// Escaping for the inside of a JSON string (RFC 8259, section 7), in ASCII, without quotation marks.
  case json
  /// Lower case (Unicode's full case mapping, independent of the locale).
  case lower
  /// The SHA-256 of the bytes, in lower-case hexadecimal.
  case sha256

  /// The maximum number of filters of one reference. Each can multiply the length of the value.
  package static let most = 8

  /// The value is not UTF-8, and the filter needs characters.
  package struct InvalidUTF8: Error {
    package var filter: ReferenceFilter
  }

  /// Whether the result is percent-encoded; nil if the filter does not change this.
  fileprivate var isPercentEncoding: Bool? {
    switch self {
    case .url, .query: true
    case .base64, .sha256: false
    case .json, .lower: nil
    }
  }

  /// Applies the filter to the value of a reference.
  ///
  /// - Throws: `InvalidUTF8` by `json` and `lower`; the other filters accept any bytes.
  package func apply(to value: [UInt8]) throws(InvalidUTF8) -> [UInt8] {
    switch self {
    case .url: return Self.percentEncoded(value, for: .path)
    case .query: return Self.percentEncoded(value, for: .segment)
    case .base64: return Base64.encode(value, isURLSafe: false, isPadded: true)
    case .json: return Self.escaped(try text(value))
    case .lower: return Array(try text(value).lowercased().utf8)
    case .sha256: return Array(Hexadecimal.text(SHA256.hash(value)).utf8)
    }
  }

  private func text(_ value: [UInt8]) throws(InvalidUTF8) -> String {
    guard let text = String(validating: value, as: UTF8.self) else { throw InvalidUTF8(filter: self) }
    return text
  }

  private static func percentEncoded(_ value: [UInt8], for component: PercentEncoding.Component) -> [UInt8] {
    var text: [UInt8] = []
    PercentEncoding.append(value, for: component, to: &text)
    return text
  }

  /// Control characters and everything outside ASCII become `\uXXXX`, because the text may be in a header field.
  private static func escaped(_ value: String) -> [UInt8] {
    var text: [UInt8] = []
    for unit in value.utf16 {
      switch unit {
      case 0x08: text += "\\b".utf8
      case 0x09: text += "\\t".utf8
      case 0x0A: text += "\\n".utf8
      case 0x0C: text += "\\f".utf8
      case 0x0D: text += "\\r".utf8
      case 0x22: text += "\\\"".utf8
      case 0x5C: text += "\\\\".utf8
      case 0x20..<0x7F: text.append(UInt8(unit))
      default:
        text += "\\u".utf8
        text += Hexadecimal.text([UInt8(unit >> 8), UInt8(unit & 0xFF)]).utf8
      }
    }
    return text
  }
}

extension [ReferenceFilter] {
  /// The value after all filters, from the first to the last.
  package func apply(to value: [UInt8]) throws(ReferenceFilter.InvalidUTF8) -> [UInt8] {
    var value = value
    for filter in self { value = try filter.apply(to: value) }
    return value
  }

  /// Whether the author has percent-encoded the result, so that it is inserted into a URL unchanged.
  package var arePercentEncoding: Bool { compactMap(\.isPercentEncoding).last ?? false }

  /// The filters as written in the manifest: ` | url | lower`; empty without filters.
  package var written: String { map { " | \($0.rawValue)" }.joined() }
}

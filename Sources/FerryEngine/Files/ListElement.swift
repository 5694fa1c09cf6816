import FerryDigest
import FerryManifest

/// An element of the list of a download batch.
enum ListElement {
  /// A URL.
  case url(String)
  case object([JSONValue.Member])
  case written(DownloadItems.Written)
  /// A JSON element that is neither a string nor an object.
  case unusable

  /// The value of a field.
  enum Value {
    case text(String)
    /// The element does not have the field, or it is null.
    case absent
    /// The value is an array or an object.
    case unusable
  }

  /// The value of `${item.FIELD}`.
  func value(of field: String) -> Value {
    switch self {
    case .unusable: return .absent
    case .url(let url): return Self.value(of: field, in: .init(url: url))
    case .written(let item): return Self.value(of: field, in: item)
    case .object(let members):
      if let own = Self.member(field, of: members) { return Self.value(own) }
      var value = JSONValue.object(members)
      for name in field.split(separator: ".", omittingEmptySubsequences: false) {
        guard case .object(let members) = value, let inner = Self.member(String(name), of: members) else {
          return .absent
        }
        value = inner
      }
      return Self.value(value)
    }
  }

  /// As for a JSON pointer, the last of several members with the same name is used, and names are compared by scalars.
  private static func member(_ name: String, of members: [JSONValue.Member]) -> JSONValue? {
    members.last { $0.name.unicodeScalars.elementsEqual(name.unicodeScalars) }?.value
  }

  private static func value(_ value: JSONValue) -> Value {
    switch value {
    case .null: .absent
    case .bool(let isTrue): .text(isTrue ? "true" : "false")
    case .number(let text), .string(let text): .text(text)
    case .array, .object: .unusable
    }
  }

  private static func value(of field: String, in item: DownloadItems.Written) -> Value {
    let text: String? =
      switch DownloadItems.Field(rawValue: field) {
      case .url: item.url
      case .name: name(inURL: item.url)
      case .saveTo: item.saveTo
      case .size: item.size.map { "\($0)" }
      case .sha256: item.sha256
      case nil: nil
      }
    return text.map(Value.text) ?? .absent
  }

  /// The last segment of a URL's path without percent-encoding; `nil` if it is empty or not UTF-8.
  private static func name(inURL url: String) -> String? {
    // Splitting the path would take a multiple of its size in memory, and a server may have written it.
    var path = Array(URLReference(url).path.utf8)[...]
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    let segment = Array(path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path)
    var bytes: [UInt8] = []
    var index = 0
    while index < segment.count {
      if segment[index] == UInt8(ascii: "%"), index + 2 < segment.count,
        let high = Hexadecimal.value(segment[index + 1]), let low = Hexadecimal.value(segment[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(segment[index])
        index += 1
      }
    }
    return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
  }
}

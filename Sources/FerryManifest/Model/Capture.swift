/// A value to take from a response: its name, its source, and how it is stored.
package struct Capture: Hashable, Codable, Sendable {
  package var name: String
  package var source: Source
  /// Whether the value is masked in all output and stored in a column that is never printed.
  package var isSecret: Bool
  /// The maximum size of the value in bytes; `nil` for `defaultMaxSize`.
  package var maxSize: Int64?
  /// Whether a response without the value is accepted. Only captures that ferry itself adds are optional.
  package var isOptional = false

  /// 64 KiB.
  package static let defaultMaxSize: Int64 = 64 << 10

  package enum Source: Hashable, Codable, Sendable {
    /// A JSON pointer (RFC 6901) into the body.
    case json(pointer: String)
    /// A header field of the final response; its name is case-insensitive. If there are several such fields,
    /// the first is used.
    case header(String)
    /// The first group of the first match in the body.
    case regex(String)
    /// The names of the elements from the root of an XML body to the captured one, separated by `/`, without
    /// namespace prefixes.
    case xml(path: String)
    case status
  }

  package init(
    name: String, source: Source, isSecret: Bool = false, maxSize: Int64? = nil, isOptional: Bool = false
  ) {
    self.isOptional = isOptional
    self.name = name
    self.source = source
    self.isSecret = isSecret
    self.maxSize = maxSize
  }
}

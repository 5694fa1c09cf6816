import Foundation

/// JSON values for standard output. Keys are sorted, so that two outputs can be compared.
package enum JSONText {
  /// JSON with keys in snake_case, for ferry's own formats.
  package static func pretty(_ value: some Encodable) throws -> String {
    try text(value, .convertToSnakeCase)
  }

  /// Like `pretty`, but on one line, without a line feed.
  package static func line(_ value: some Encodable) throws -> String {
    String(decoding: PrintableJSON.escaping(try ReportJSON.line(value).utf8), as: UTF8.self)
  }

  /// JSON with unchanged keys, for external formats.
  package static func verbatim(_ value: some Encodable) throws -> String {
    try text(value, .useDefaultKeys)
  }

  private static func text(
    _ value: some Encodable, _ keys: JSONEncoder.KeyEncodingStrategy
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = keys
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: PrintableJSON.escaping(try encoder.encode(value)), as: UTF8.self) + "\n"
  }
}

import FerryEngine
import Foundation

/// Values as JSON for the standard output: keys sorted, so that two runs can be compared, and ours in snake_case.
enum JSONText {
  static func pretty(_ value: some Encodable) throws -> String { try text(value, .convertToSnakeCase) }

  /// With keys as they are: a form that others have defined.
  static func verbatim(_ value: some Encodable) throws -> String { try text(value, .useDefaultKeys) }

  private static func text(
    _ value: some Encodable, _ keys: JSONEncoder.KeyEncodingStrategy
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = keys
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: PrintableJSON.escaping(try encoder.encode(value)), as: UTF8.self) + "\n"
  }
}

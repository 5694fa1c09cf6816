import Foundation

extension JSONEncoder {
  /// The encoder for all JSON output: the same value always has the same bytes.
  static var receiver: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

import Foundation

extension JSONEncoder {
  /// The one form that JSON leaves in: the same value is always the same bytes.
  static var receiver: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

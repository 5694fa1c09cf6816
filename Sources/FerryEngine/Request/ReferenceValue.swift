/// The value of one reference before it is encoded.
struct ReferenceValue {
  var bytes: [UInt8]
  /// Whether the value is written as a number if it is a complete JSON value.
  var isNumber = false
  /// Whether the value must not be shown, and must not be sent to an origin that the manifest does not name.
  var isSensitive = false

  static func text(_ text: String) -> ReferenceValue { ReferenceValue(bytes: Array(text.utf8)) }
  static func bytes(_ bytes: ArraySlice<UInt8>) -> ReferenceValue { ReferenceValue(bytes: Array(bytes)) }
  static func number(_ number: Int64) -> ReferenceValue {
    ReferenceValue(bytes: Array(String(number).utf8), isNumber: true)
  }
  static func bound(_ value: BoundValue) -> ReferenceValue {
    ReferenceValue(bytes: Array(value.text.utf8), isSensitive: value.isSensitive)
  }
}

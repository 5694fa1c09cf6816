/// The value of one reference, before it is encoded for its place.
struct ReferenceValue {
  var bytes: [UInt8]
  /// As a JSON leaf of its own it is a number.
  var isNumber: Bool

  static func text(_ text: String) -> ReferenceValue {
    ReferenceValue(bytes: Array(text.utf8), isNumber: false)
  }
  static func bytes(_ bytes: ArraySlice<UInt8>) -> ReferenceValue {
    ReferenceValue(bytes: Array(bytes), isNumber: false)
  }
  static func number(_ number: Int64) -> ReferenceValue {
    ReferenceValue(bytes: Array(String(number).utf8), isNumber: true)
  }
}

/// Formats sizes for display.
package enum ByteText {
  /// The size with a unit that is a power of 1000, as in the manifest: `4.9 GB`.
  package static func text(_ bytes: Int64) -> String {
    var text = ByteBuffer(capacity: 32)
    append(bytes, to: &text)
    return text.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Appends the same. A log has a size in each line, and interpolation takes ten times as long.
  package static func append(_ bytes: Int64, to text: inout ByteBuffer) {
    guard bytes >= 1000 else {
      text.append(decimal: bytes)
      text.append(literal: " B")
      return
    }
    var value = Double(bytes) / 1000
    if value < 1000 { return append(value, " kB", to: &text) }
    value /= 1000
    if value < 1000 { return append(value, " MB", to: &text) }
    append(value / 1000, " GB", to: &text)
  }

  private static func append(_ value: Double, _ unit: StaticString, to text: inout ByteBuffer) {
    let tenths = Int64((value * 10).rounded())
    text.append(decimal: tenths / 10)
    text.append(UInt8(ascii: "."))
    text.append(tenths % 10, digits: 1)
    text.append(literal: unit)
  }
}

/// Formats sizes for display.
package enum ByteText {
  /// The size with a unit that is a power of 1000, as in the manifest: `4.9 GB`.
  package static func text(_ bytes: Int64) -> String {
    var value = Double(bytes)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 1000 || unit == "GB" {
        return unit == "B" ? "\(bytes) B" : "\(rounded(value)) \(unit)"
      }
      value /= 1000
    }
    return "\(bytes) B"
  }

  private static func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// The names of ferry's temporary files, by which a listing recognizes files left behind by a killed
/// process: `.NAME.ferry-part-RANDOM` for a download to NAME, and `.ferry-part-RANDOM` for any other file.
///
/// RANDOM consists of 1 to 13 digits and lowercase letters.
package enum TemporaryName {
  private static let marker = Array(".ferry-part-".utf8)
  /// The number of digits of the largest 64-bit number in base 36.
  private static let mostDigits = 13
  /// The maximum length, in bytes, of the part of a temporary name that is taken from the destination.
  /// NAME_MAX is 255 bytes on all common file systems, and the rest of a temporary name needs 30 of them.
  private static let longestStem = 200

  /// The common prefix of the names of all temporary files for one destination.
  ///
  /// - Parameter name: the last component of the destination. If it is long, only its beginning is used.
  static func prefix(for name: String) -> String {
    "." + String(decoding: name.utf8.prefix(longestStem), as: UTF8.self) + ".ferry-part-"
  }

  /// A new name. It does not contain the destination's name, because that may already have the maximum length.
  package static var anonymous: String { ".ferry-part-" + random }

  static var random: String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// Whether a file of this name is one of ferry's temporary files.
  package static func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    guard name.first == UInt8(ascii: ".") else { return false }
    let rest = name.reversed().drop { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: false
      }
    }
    return (1...mostDigits).contains(name.count - rest.count) && rest.starts(with: marker.reversed())
  }

  /// Whether a file of this name is one of ferry's temporary files. The collection is copied.
  package static func matches(_ name: some Collection<UInt8>) -> Bool {
    Array(name).withUnsafeBytes { matches($0) }
  }
}

import FerryDigest

/// The names of ferry's temporary files, by which a listing recognizes files left behind by a killed
/// process: `.NAME.ferry-part-RANDOM` for a download to NAME, `.NAME.ferry-kept-OWNER` for the kept part of a
/// download to NAME, and `.ferry-part-RANDOM` for any other file.
///
/// RANDOM and OWNER consist of 1 to 13 digits and lowercase letters.
package enum TemporaryName {
  private static let markers = [Array(".ferry-part-".utf8), Array(".ferry-kept-".utf8)]
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

  /// The name of the kept part of an interrupted download. It is the same for each attempt.
  ///
  /// - Parameters:
  ///   - name: the last component of the destination.
  ///   - owner: identifies the session and the node that download the file.
  static func kept(for name: String, owner: String) -> String {
    let digest = SHA256.hash((owner + "\n" + name).utf8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return "." + String(decoding: name.utf8.prefix(longestStem), as: UTF8.self) + ".ferry-kept-"
      + String(digest, radix: 36)
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
    return (1...mostDigits).contains(name.count - rest.count)
      && markers.contains { rest.starts(with: $0.reversed()) }
  }

  /// Whether a file of this name is one of ferry's temporary files. The collection is copied.
  package static func matches(_ name: some Collection<UInt8>) -> Bool {
    Array(name).withUnsafeBytes { matches($0) }
  }
}

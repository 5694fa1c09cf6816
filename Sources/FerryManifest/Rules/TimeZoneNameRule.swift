/// The rule for names of the IANA time zone database.
package enum TimeZoneNameRule {
  /// Whether a name consists of words of ASCII letters, digits, `_`, `-` and `+`, separated by slashes. Such a name
  /// cannot lead out of the database's folder.
  package static func isValid(_ name: String) -> Bool {
    name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { word in
      !word.isEmpty && word.allSatisfy(isAllowed)
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"):
      true
    default: false
    }
  }
}

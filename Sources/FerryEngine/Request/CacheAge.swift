import FerryTransfer

/// The `Age` header field (RFC 9111, section 5.1).
enum CacheAge {
  /// The time since the server generated or validated the response, if a cache states it; otherwise `nil`. Of several
  /// values, the first counts, and a value that is not a number is ignored, as in RFC 9111.
  static func read(_ response: TransferResponse) -> Duration? {
    guard let field = response.header("Age") else { return nil }
    let first = field.prefix { $0 != "," }.trimmingPrefix { $0 == " " || $0 == "\t" }
    let digits = first.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, first.dropFirst(digits.count).allSatisfy({ $0 == " " || $0 == "\t" }) else {
      return nil
    }
    // Caches use 2^31 for all greater values (section 1.2.2).
    return .seconds(min(Int64(digits) ?? 1 << 31, 1 << 31))
  }
}

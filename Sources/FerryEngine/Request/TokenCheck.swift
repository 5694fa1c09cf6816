import FerryManifest
import FerryPlan
import FerryTransfer

/// Rejects a token that no request can carry, as soon as the server issues the token. Otherwise, each request with the
/// token would fail permanently, although the next token may be valid.
enum TokenCheck {
  /// The failure of the request that returned the captures; `nil` if requests can carry them.
  static func failure(_ captures: [CapturedValue], _ apply: TokenApplication) -> TransportFailure? {
    for segment in apply.value.segments {
      guard case .reference(.token(let name), let filters) = segment,
        let capture = captures.first(where: { $0.name == name })
      else { continue }
      let value = capture.value.utf8
      let problem: String? =
        if value.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) {
          "is empty"
        } else if filters.isEmpty, !allows(value, apply.target) {
          "contains a character that \(place(apply.target)) cannot contain"
        } else {
          nil
        }
      if let problem {
        return TransportFailure(
          .capture, "the value of '\(name)' in the response \(problem)", mayHaveReachedServer: true)
      }
    }
    return nil
  }

  private static func allows(_ value: String.UTF8View, _ target: TokenApplication.Target) -> Bool {
    switch target {
    // RFC 9110, section 5.5.
    case .header: value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    case .cookie: value.allSatisfy(RequestBuilder.isAllowedInCookie)
    // A value in the query is percent-encoded.
    case .query: true
    }
  }

  private static func place(_ target: TokenApplication.Target) -> String {
    switch target {
    case .header(let name): "the header '\(name)'"
    case .cookie: "a cookie"
    case .query: "a URL"
    }
  }
}

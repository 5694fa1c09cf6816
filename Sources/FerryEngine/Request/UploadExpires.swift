import FerryPlan
import FerryTransfer

/// Parses the header field `Upload-Expires` of tus 1.0.0.
enum UploadExpires {
  /// The time at which the upload of a response expires; `nil` if the response does not state it.
  static func read(_ response: TransferResponse, now: Instant) -> Instant? {
    parse(response.values(of: "Upload-Expires"), sentAt: response.header("Date"), now: now)
  }

  /// Returns the time at which an upload expires; `nil` if the field is absent or is not exactly one date.
  ///
  /// The lifetime is counted from the `Date` of the response if that field is valid, because the server's
  /// clock may differ from this machine's clock.
  ///
  /// - Parameter date: the value of `Date`; `nil` if the response has none.
  static func parse(_ values: [String], sentAt date: String?, now: Instant) -> Instant? {
    guard values.count == 1, let expires = HTTPDate.instant(values[0]) else { return nil }
    guard let date = date.flatMap({ HTTPDate.instant($0) }) else { return expires }
    return now.advanced(by: date.duration(to: expires))
  }
}

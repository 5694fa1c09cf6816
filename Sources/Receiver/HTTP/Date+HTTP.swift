import Foundation

extension Date {
  /// The date in HTTP format, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  var httpDate: String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: self)
  }
}

extension Duration {
  /// The duration in seconds, as a number for JSON and `Date`.
  var inSeconds: Double { self / .seconds(1) }
}

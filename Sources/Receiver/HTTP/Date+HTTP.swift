import Foundation

extension Date {
  /// The date as HTTP writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  var httpDate: String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: self)
  }
}

extension Duration {
  /// The duration as a number of seconds, as JSON and `Date` have it.
  var inSeconds: Double { self / .seconds(1) }
}

import FerryPlan

extension CapturedValue {
  /// As people may see it, also where an older ferry wrote it down: `***` for a secret, and in the place of a URL's
  /// user name and password.
  var shown: String {
    guard !isSecret else { return "***" }
    var url = URLReference(value)
    guard let host = url.authority, url.removeUserinfo() else { return value }
    url.authority = "***@\(url.authority ?? host)"
    return url.description
  }
}

import FerryPlan

extension CapturedValue {
  /// The value for display. A secret, and the user name and password in a URL, are replaced by `***`, even
  /// in values from the journal of an older version of ferry.
  var shown: String {
    guard !isSecret else { return "***" }
    var url = URLReference(value)
    guard let host = url.authority, url.removeUserinfo() else { return value }
    url.authority = "***@\(url.authority ?? host)"
    return url.description
  }
}

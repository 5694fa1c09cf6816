import FerryPlan

extension CapturedValue {
  /// The value as people may see it: `***` for a secret, and in place of the user name and password of a URL. This
  /// also covers values that an older version of ferry journaled with them.
  var shown: String {
    guard !isSecret else { return "***" }
    var url = URLReference(value)
    guard let host = url.authority, url.removeUserinfo() else { return value }
    url.authority = "***@\(url.authority ?? host)"
    return url.description
  }
}

/// Redirects, statuses and validators: small responses whose header section is the attack.
extension HostileScript {
  /// The receiver's root URL, with the name that the client uses.
  var here: String { "http://\(host)/" }

  /// Returns an empty response with `Location` fields.
  ///
  /// - Parameter locations: the values of the `Location` fields; nil values are omitted.
  func redirect(to locations: String?...) -> ResponseScript {
    let fields = locations.compactMap { $0 }.map { "Location: \($0)" }
    return ResponseScript(head(["Content-Length: 0"] + fields))
  }

  static func withUserinfo(_ url: String) -> String {
    let parts = url.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let scheme = parts.first, let rest = parts.last else {
      return "//user:password@\(url)"
    }
    return "\(scheme)//user:password@\(rest)"
  }

  var foreignURL: ResponseScript {
    let url = location ?? here
    return whole(
      "Location: \(url)", "Content-Type: application/json",
      body: #"{"id":"hostile","url":"\#(url)","expires_in":3600}"#)
  }

  var partialContent: ResponseScript {
    ResponseScript(head(tag, "Content-Range: bytes 0-9/1000", "Content-Length: 10") + "0123456789")
  }

  var bodyless: ResponseScript { ResponseScript(head(tag)) }

  var otherStatus: ResponseScript {
    // A response of 1xx, 204 or 304 has no body (RFC 9110, section 6.4.1).
    (100...199).contains(status) || status == 204 || status == 304 ? bodyless : whole(tag)
  }

  /// A complete response whose ETag contains the bytes added by `content`.
  func entityTag(_ content: (inout ResponseScript) -> Void) -> ResponseScript {
    var script = ResponseScript("\(statusLine)ETag: \"")
    content(&script)
    script.add("\"\r\n\(rest)")
    return script
  }
}

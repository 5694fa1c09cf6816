import FerryPlan

/// A token that is sent as a parameter of the URL's query. It is printed as `***`.
///
/// It is not part of the request's URL, so that the URL can be shown and compared, and so that redirects keep the token
/// only where a header field with it would be kept.
package struct QueryToken: Hashable, Sendable {
  /// `name=`, percent-encoded.
  let name: String
  /// The percent-encoded value.
  let value: String

  /// - Parameters:
  ///   - name: the percent-encoded name of the parameter.
  ///   - value: its percent-encoded value.
  package init(name: String, value: String) {
    self.name = name + "="
    self.value = value
  }

  /// The token in messages.
  private static let text = "the token in the query"

  /// A header field that represents the token, so that `OriginGuard` decides whether it is sent.
  var placeholder: TransferRequest.HeaderField {
    .init(name: "query", value: "", sensitivity: .init(.token, values: [Self.text], role: .queryToken))
  }

  /// Adds the parameter to a URL before its fragment, unless a server has already added it to its redirect.
  func added(to url: String) -> String {
    let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
    let base = url[..<end]
    guard let mark = base.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return "\(base)?\(name)\(value)\(url[end...])"
    }
    let query = base[base.utf8.index(after: mark)...]
    if query.utf8.split(separator: UInt8(ascii: "&")).contains(where: { $0.starts(with: name.utf8) }) {
      return url
    }
    let separator = query.isEmpty || query.utf8.last == UInt8(ascii: "&") ? "" : "&"
    return "\(base)\(separator)\(name)\(value)\(url[end...])"
  }
}

extension QueryToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension RedirectPolicy.Hop {
  /// The URL that is sent: with the token, if the hop's origin may receive it.
  func sentURL(of request: TransferRequest) -> String {
    guard let token = request.queryToken, headers.contains(where: { $0.role == .queryToken }) else {
      return url
    }
    return token.added(to: url)
  }
}

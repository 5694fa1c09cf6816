/// The part of a request that carries a token.
package struct TokenApplication: Hashable, Codable, Sendable {
  package enum Target: Hashable, Codable, Sendable {
    case header(String)
    /// A parameter of the URL's query.
    case query(String)
    /// A cookie in the header field `Cookie`.
    case cookie(String)
  }

  package var target: Target
  package var value: Template

  package init(_ target: Target, value: Template) {
    self.target = target
    self.value = value
  }

  /// The header field that the token sets; `nil` if it sets none.
  package var header: String? {
    switch target {
    case .header(let name): name
    case .cookie: "Cookie"
    case .query: nil
    }
  }
}

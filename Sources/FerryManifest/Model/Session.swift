/// The rules that transfers share, after URLSessionConfiguration.
package struct Session: Equatable, Sendable {
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case `default`
    case ephemeral
    case background
  }

  package var name: Located<String>
  package var kind: Kind
  /// The journal's name; by default `MANIFEST.SESSION`.
  package var identifier: String?
  /// Concurrent requests to one host (scheme, name and port). Default 6, as URLSession's.
  package var maxConnectionsPerHost: Int
  /// Idle time, reset by every byte. Default 60 s, as URLSession's.
  package var timeoutForRequest: Duration
  /// The whole item, retries and restarts included. Default 7 days, as URLSession's.
  package var timeoutForResource: Duration
  package var headers: [RequestTemplate.Field]

  package init(
    name: Located<String>, kind: Kind = .default, identifier: String? = nil, maxConnectionsPerHost: Int = 6,
    timeoutForRequest: Duration = .seconds(60), timeoutForResource: Duration = .seconds(7 * 86_400),
    headers: [RequestTemplate.Field] = []
  ) {
    self.name = name
    self.kind = kind
    self.identifier = identifier
    self.maxConnectionsPerHost = maxConnectionsPerHost
    self.timeoutForRequest = timeoutForRequest
    self.timeoutForResource = timeoutForResource
    self.headers = headers
  }
}

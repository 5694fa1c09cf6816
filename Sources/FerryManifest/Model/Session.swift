/// The settings that transfers share, modeled on URLSessionConfiguration.
package struct Session: Equatable, Sendable {
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case `default`
    case ephemeral
    case background
  }

  /// Whether transfers wait for external power, and for budgets that bind discretionary sessions.
  package enum Discretionary: String, Codable, Sendable, CaseIterable {
    case no = "false"
    case yes = "true"
    /// Transfers that are created in a background launch wait for these conditions until a foreground
    /// launch.
    case inferred
  }

  /// The use of cached responses, modeled on URLRequest.CachePolicy.
  package enum CachePolicy: String, Codable, Sendable, CaseIterable {
    case useProtocol = "use_protocol_cache_policy"
    case reloadIgnoringLocal = "reload_ignoring_local_cache"
    case returnElseLoad = "return_cache_data_else_load"
    case returnDoNotLoad = "return_cache_data_dont_load"
  }

  package var name: Located<String>
  package var kind: Kind
  /// The journal's name; by default `MANIFEST.SESSION`.
  package var identifier: String?
  /// The maximum number of concurrent requests to one host (scheme, name and port). Default 6, as in URLSession.
  package var maxConnectionsPerHost: Int
  /// The idle timeout, reset by every byte of content and every complete header line. Default 60 s, as in URLSession.
  package var timeoutForRequest: Duration
  /// The limit for the whole item, including retries and restarts. Default 7 days, as in URLSession.
  package var timeoutForResource: Duration
  package var headers: [RequestTemplate.Field]
  /// The handling of redirects in the session's requests.
  package var redirects: RedirectRules
  package var discretionary: Discretionary
  /// Whether cellular networks are allowed. Default true.
  package var allowsCellular: Bool
  /// Whether metered networks are allowed. Default true.
  package var allowsExpensive: Bool
  /// The use of cached responses; `use_protocol_cache_policy` by default.
  package var cachePolicy: CachePolicy
  /// The limit of the session's requests; `nil` for none.
  package var maxBandwidth: BandwidthLimit?
  /// A command and its arguments, which ferry starts when a batch of the session has completed; empty for no
  /// command.
  package var onEvents: [String]
  /// How the session's requests are signed; `nil` for requests without a signature.
  package var sign: RequestSigning?
  /// The credentials for the session's requests; `nil` for none.
  package var auth: RequestAuth?
  /// How the session's connections are made.
  package var connection = ConnectionSettings()

  package init(
    name: Located<String>, kind: Kind = .default, identifier: String? = nil, maxConnectionsPerHost: Int = 6,
    timeoutForRequest: Duration = .seconds(60), timeoutForResource: Duration = .seconds(7 * 86_400),
    headers: [RequestTemplate.Field] = [], redirects: RedirectRules = RedirectRules(),
    discretionary: Discretionary = .no, allowsCellular: Bool = true,
    allowsExpensive: Bool = true, cachePolicy: CachePolicy = .useProtocol,
    onEvents: [String] = []
  ) {
    self.name = name
    self.kind = kind
    self.identifier = identifier
    self.maxConnectionsPerHost = maxConnectionsPerHost
    self.timeoutForRequest = timeoutForRequest
    self.timeoutForResource = timeoutForResource
    self.headers = headers
    self.redirects = redirects
    self.discretionary = discretionary
    self.allowsCellular = allowsCellular
    self.allowsExpensive = allowsExpensive
    self.cachePolicy = cachePolicy
    self.onEvents = onEvents
  }
}

extension Session {
  /// The discretion of the session's tasks. As in URLSession, it is inferred only in background sessions.
  package var effectiveDiscretion: Discretionary {
    discretionary == .inferred && kind != .background ? .no : discretionary
  }
}

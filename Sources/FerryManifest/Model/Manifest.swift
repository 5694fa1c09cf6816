/// A manifest as its author meant it: typed, defaults filled in, `vars` and `env` put in.
package struct Manifest: Equatable, Sendable {
  /// The path as the user gave it.
  package var file: String
  package var name: Located<String>
  package var secrets: [Secret]
  package var sessions: [Session]
  package var tokens: [TokenStep]
  package var uploads: [Upload]
  package var fetches: [Fetch]
  package var requests: [SingleRequest]

  package init(
    file: String, name: Located<String>, secrets: [Secret] = [], sessions: [Session] = [],
    tokens: [TokenStep] = [], uploads: [Upload] = [], fetches: [Fetch] = [],
    requests: [SingleRequest] = []
  ) {
    self.file = file
    self.name = name
    self.secrets = secrets
    self.sessions = sessions
    self.tokens = tokens
    self.uploads = uploads
    self.fetches = fetches
    self.requests = requests
  }
}

/// Where a secret's value is found when a run starts; the value itself is never part of a manifest.
package struct Secret: Equatable, Sendable {
  package var name: Located<String>
  package var source: Source

  package enum Source: Equatable, Sendable {
    case environment(String)
    /// A file's content without one trailing line end; relative to the manifest's folder.
    case file(String)
  }

  package init(name: Located<String>, source: Source) {
    self.name = name
    self.source = source
  }
}

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

/// An authorization-token step.
package struct TokenStep: Equatable, Sendable {
  package var name: Located<String>
  package var session: Located<String>
  package var request: RequestTemplate
  package var expect: Expectation
  /// `expires_in` (seconds from the answer) and `expires_at` (RFC 3339 or Unix seconds) tell its life.
  package var capture: [Capture]
  /// The header field set on every request of a node that names this token.
  package var apply: RequestTemplate.Field
  package var refresh: Refresh
  package var retry: RetryPolicy

  package struct Refresh: Hashable, Codable, Sendable {
    /// Default 30 s.
    package var beforeExpiry: Duration
    /// Default 401.
    package var onStatus: [Int]

    package init(beforeExpiry: Duration = .seconds(30), onStatus: [Int] = [401]) {
      self.beforeExpiry = beforeExpiry
      self.onStatus = onStatus
    }
  }

  package init(
    name: Located<String>, session: Located<String>, request: RequestTemplate, expect: Expectation = .init(),
    capture: [Capture], apply: RequestTemplate.Field, refresh: Refresh = .init(), retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.request = request
    self.expect = expect
    self.capture = capture
    self.apply = apply
    self.refresh = refresh
    self.retry = retry
  }
}

/// When a failed request is tried again.
///
/// The wait before retry `n` (from 1) is `initial × factor^(n−1)`, at most `max`, then moved by up to
/// `±jitter` of itself.
package struct RetryPolicy: Hashable, Codable, Sendable {
  /// Retries after the first attempt, in one launch. Default 5.
  package var limit: Int
  package var initial: Duration
  package var factor: Double
  package var max: Duration
  package var jitter: Double

  package init(
    limit: Int = 5, initial: Duration = .seconds(1), factor: Double = 2, max: Duration = .seconds(300),
    jitter: Double = 0.25
  ) {
    self.limit = limit
    self.initial = initial
    self.factor = factor
    self.max = max
    self.jitter = jitter
  }
}

/// A single request in the graph: notify, finalize a set, warm a cache.
package struct SingleRequest: Equatable, Sendable {
  package enum When: String, Codable, Sendable, CaseIterable {
    case succeeded
    case failed
    case always
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  /// Which outcome of `needs` lets it run. Default succeeded.
  package var when: When
  package var request: RequestTemplate
  package var expect: Expectation
  package var capture: [Capture]
  package var retry: RetryPolicy

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [],
    when: When = .succeeded, request: RequestTemplate, expect: Expectation = .init(), capture: [Capture] = [],
    retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.when = when
    self.request = request
    self.expect = expect
    self.capture = capture
    self.retry = retry
  }
}

/// A download, repeated no sooner than an interval.
package struct Fetch: Equatable, Sendable {
  package enum Interval: Hashable, Codable, Sendable {
    case everyRun
    /// Not before this long after the last one that ended well.
    case minimum(Duration)
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  package var interval: Interval
  package var request: RequestTemplate
  package var expect: Expectation
  /// Relative to the manifest's folder.
  package var saveTo: String
  package var retry: RetryPolicy

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [],
    interval: Interval = .everyRun, request: RequestTemplate, expect: Expectation = .init(), saveTo: String,
    retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.interval = interval
    self.request = request
    self.expect = expect
    self.saveTo = saveTo
    self.retry = retry
  }
}

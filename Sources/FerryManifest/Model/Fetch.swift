/// A download that is repeated at most once per interval.
package struct Fetch: Equatable, Sendable {
  package enum Interval: Hashable, Codable, Sendable {
    case everyRun
    /// At most one fetch per duration, counted from the last successful fetch.
    case minimum(Duration)
    /// Like `minimum`, but the interval grows up to `maximum` while there is no new data.
    case adaptive(minimum: Duration, maximum: Duration)
    case never
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  package var interval: Interval
  package var request: RequestTemplate
  package var expect: Expectation
  /// The path of the downloaded file, relative to the manifest's folder.
  package var saveTo: String
  /// The maximum number of bytes stored; `nil` for no limit.
  package var maxSize: Int64?
  /// Whether the file gets the modification time that the server states.
  package var keepsModified = false
  /// The number of ranges of the file that may be downloaded at once.
  package var segments = 1
  package var retry: RetryPolicy

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [],
    interval: Interval = .everyRun, request: RequestTemplate, expect: Expectation = .init(), saveTo: String,
    maxSize: Int64? = nil, retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.interval = interval
    self.request = request
    self.expect = expect
    self.saveTo = saveTo
    self.maxSize = maxSize
    self.retry = retry
  }
}

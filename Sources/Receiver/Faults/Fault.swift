/// A failure that the receiver causes on request, for example for every seventh commit.
///
/// In JSON, the keys are the names of the properties, except `retry_after` for ``retryAfter``. The text form
/// is `commit:every=7,status=500` (see ``init(spec:)``).
package struct Fault: Equatable, Sendable {
  /// The point at which a connection is dropped, relative to the execution of the request.
  package enum Drop: String, Codable, Sendable {
    /// The request is not executed.
    case before
    /// The request is executed, but no response is sent.
    case after
  }

  /// The way in which a connection is dropped.
  package enum Cut: String, Codable, Sendable {
    /// A TCP reset.
    case reset
    /// An orderly end without a response. The system turns it into a reset if there are unread bytes.
    case close
  }

  /// Whether the server executes the request before a hostile response.
  package enum Work: String, Codable, Sendable {
    case none
    case done
  }

  /// The kind of requests to count.
  package var route: RouteClass
  /// Restricts the counted requests to those whose path and query contain this text; nil means no
  /// restriction.
  package var match: String?
  /// The fault occurs at every nth counted request.
  package var every = 1
  /// The maximum number of occurrences; nil means no limit.
  package var times: Int?
  /// The status of the response; the request is not executed. With a ``response``, the status of the hostile
  /// response.
  package var status: Int?
  /// The `Retry-After` of the response with ``status``, in seconds.
  package var retryAfter: Int?
  /// The point at which the connection is dropped; nil if it is not dropped.
  package var drop: Drop?
  /// The way in which the connection is closed. By default, a drop is a reset, and a truncated response ends
  /// with an orderly close.
  package var cut: Cut?
  /// The delay, in seconds, of the response or of the drop. The request is executed without delay.
  package var delay: Double?
  /// The hostile response that replaces the normal response.
  package var response: HostileResponse?
  /// Whether the request is executed before the hostile response. By default, it is not executed.
  package var work: Work?
  /// The target of the hostile response's redirect.
  package var location: String?
  /// The size of the hostile response, in bytes.
  package var size: Int?
  /// The time between two pieces of the hostile response, in seconds.
  package var interval: Double?

  /// The reason why a fault is invalid.
  package struct Invalid: Error, CustomStringConvertible {
    package let description: String
  }

  /// Creates a fault that responds with a status.
  package static func status(
    _ status: Int, on route: RouteClass, every: Int = 1, times: Int? = nil, retryAfter: Int? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, status: status, retryAfter: retryAfter)
  }

  /// Creates a fault that drops the connection.
  package static func drop(
    _ drop: Drop, on route: RouteClass, every: Int = 1, times: Int? = nil, cut: Cut? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, drop: drop, cut: cut)
  }

  /// Creates a fault that delays the response by this many seconds.
  package static func delay(
    _ seconds: Double, on route: RouteClass, every: Int = 1, times: Int? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, delay: seconds)
  }

  /// Creates a fault that sends a hostile response.
  package static func response(
    _ response: HostileResponse, on route: RouteClass, every: Int = 1, times: Int? = nil, status: Int? = nil,
    work: Work? = nil, location: String? = nil, size: Int? = nil, interval: Double? = nil
  ) -> Fault {
    Fault(
      route: route, every: every, times: times, status: status, response: response, work: work,
      location: location, size: size, interval: interval)
  }

  /// Throws an error if the fault is contradictory or would have no effect.
  func validate() throws(Invalid) {
    if match?.isEmpty == true { throw Invalid(description: "match must not be empty") }
    if every < 1 { throw Invalid(description: "every must be at least 1") }
    if let times, times < 1 { throw Invalid(description: "times must be at least 1") }
    if let delay, !(0...3600).contains(delay) {
      throw Invalid(description: "delay must be between 0 and 3600 seconds")
    }
    if let retryAfter, retryAfter < 0 { throw Invalid(description: "retry_after must not be negative") }
    if let response {
      try validate(response)
    } else {
      try validateWithoutResponse()
    }
  }

  private func validateWithoutResponse() throws(Invalid) {
    if let status, !(200...599).contains(status) {
      throw Invalid(description: "status must be between 200 and 599")
    }
    if retryAfter != nil && status == nil { throw Invalid(description: "retry_after requires a status") }
    if cut != nil && drop == nil {
      throw Invalid(description: "cut requires a drop or a truncated response")
    }
    let settings: [(name: String, isGiven: Bool)] = [
      ("work", work != nil), ("location", location != nil), ("size", size != nil),
      ("interval", interval != nil),
    ]
    for setting in settings where setting.isGiven {
      throw Invalid(description: "\(setting.name) requires a response")
    }
    if status != nil && drop != nil {
      throw Invalid(
        description: "status and drop are mutually exclusive: a dropped connection has no response")
    }
    if status == nil && drop == nil && delay == nil {
      throw Invalid(description: "the fault has no effect: specify a status, a drop, a delay or a response")
    }
  }

  private func validate(_ response: HostileResponse) throws(Invalid) {
    let name = "response=\(response.rawValue)"
    if drop != nil {
      throw Invalid(
        description: "drop and response are mutually exclusive: a dropped connection has no response")
    }
    let taken = response.settings
    let settings: [(name: String, isGiven: Bool, isTaken: Bool)] = [
      ("retry_after", retryAfter != nil, false),
      ("status", status != nil, taken.statuses != nil),
      ("cut", cut != nil, taken.takesCut),
      ("location", location != nil, taken.takesLocation),
      ("size", size != nil, taken.size != nil),
      ("interval", interval != nil, taken.interval != nil),
    ]
    for setting in settings where setting.isGiven && !setting.isTaken {
      throw Invalid(description: "\(setting.name) has no effect with \(name)")
    }
    if let statuses = taken.statuses {
      guard let status = status ?? taken.status else {
        throw Invalid(description: "\(name) requires a status")
      }
      guard statuses.contains(status) else {
        let (first, last) = (statuses.lowerBound, statuses.upperBound)
        throw Invalid(description: "the status of \(name) must be between \(first) and \(last)")
      }
    }
    if response == .foreignURL && location == nil {
      throw Invalid(description: "\(name) requires a location")
    }
    // Other characters could add header fields or JSON.
    let isPlain =
      location?.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"\"\\".utf8.contains($0) } ?? true
    guard isPlain, location?.isEmpty != true else {
      throw Invalid(
        description: "location must be a URL in printable ASCII, without spaces, quotes or backslashes")
    }
    if let size, !(1...(1 << 50)).contains(size) {
      throw Invalid(description: "size must be between 1 and 2^50 bytes")
    }
    if let interval, !(0...3600).contains(interval) {
      throw Invalid(description: "interval must be between 0 and 3600 seconds")
    }
  }
}

extension Fault: Codable {
  private enum CodingKeys: String, CodingKey {
    case route, match, every, times, status, drop, cut, delay, response, work, location, size, interval
    case retryAfter = "retry_after"
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package init(from decoder: any Decoder) throws {
    // An unknown key is a mistake. If it were ignored, the fault would occur at every request.
    let given = try decoder.container(keyedBy: AnyKey.self).allKeys
    if let unknown = given.first(where: { CodingKeys(rawValue: $0.stringValue) == nil }) {
      throw Invalid(description: "'\(unknown.stringValue)' is not a key of a fault")
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    route = try container.decode(RouteClass.self, forKey: .route)
    match = try container.decodeIfPresent(String.self, forKey: .match)
    every = try container.decodeIfPresent(Int.self, forKey: .every) ?? 1
    times = try container.decodeIfPresent(Int.self, forKey: .times)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    retryAfter = try container.decodeIfPresent(Int.self, forKey: .retryAfter)
    drop = try container.decodeIfPresent(Drop.self, forKey: .drop)
    cut = try container.decodeIfPresent(Cut.self, forKey: .cut)
    delay = try container.decodeIfPresent(Double.self, forKey: .delay)
    response = try container.decodeIfPresent(HostileResponse.self, forKey: .response)
    work = try container.decodeIfPresent(Work.self, forKey: .work)
    location = try container.decodeIfPresent(String.self, forKey: .location)
    size = try container.decodeIfPresent(Int.self, forKey: .size)
    interval = try container.decodeIfPresent(Double.self, forKey: .interval)
    try validate()
  }
}

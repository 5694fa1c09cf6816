/// Something that goes wrong on request, at every nth request of a kind.
///
/// As JSON it has the names of the properties, with `retry_after` for ``retryAfter``; as text it is
/// `commit:every=7,status=500` (see ``init(spec:)``).
package struct Fault: Equatable, Sendable {
  /// When a connection is dropped.
  package enum Drop: String, Codable, Sendable {
    /// Nothing is carried out.
    case before
    /// The work is done, and nobody is told.
    case after
  }

  /// How a connection is dropped.
  package enum Cut: String, Codable, Sendable {
    /// A TCP reset.
    case reset
    /// An orderly end without an answer; the system makes it a reset when it has unread bytes.
    case close
  }

  /// Whether the server does the work before a hostile response.
  package enum Work: String, Codable, Sendable {
    case none
    case done
  }

  /// Which requests are counted.
  package var route: RouteClass
  /// Of these, only those whose path and query contain this text; nil counts them all.
  package var match: String?
  /// The fault happens at every nth of them.
  package var every = 1
  /// It happens this often at most; nil sets no bound.
  package var times: Int?
  /// This status is answered, and nothing is carried out; with a ``response``, the status of that one.
  package var status: Int?
  /// `Retry-After` on that answer, in seconds.
  package var retryAfter: Int?
  /// The connection is dropped.
  package var drop: Drop?
  /// How the connection breaks: by default a drop is a reset, and a response that is cut off ends in order.
  package var cut: Cut?
  /// The answer, or the drop, comes this many seconds late; the work is done on time.
  package var delay: Double?
  /// The response that the client gets, whatever the request.
  package var response: HostileResponse?
  /// Whether the request is carried out before that response; by default it is not.
  package var work: Work?
  /// Where that response leads.
  package var location: String?
  /// How large it is, in bytes.
  package var size: Int?
  /// How long it waits between two pieces, in seconds.
  package var interval: Double?

  /// Why a fault cannot be.
  package struct Invalid: Error, CustomStringConvertible {
    package let description: String
  }

  /// Makes a fault that answers with a status.
  package static func status(
    _ status: Int, on route: RouteClass, every: Int = 1, times: Int? = nil, retryAfter: Int? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, status: status, retryAfter: retryAfter)
  }

  /// Makes a fault that drops the connection.
  package static func drop(
    _ drop: Drop, on route: RouteClass, every: Int = 1, times: Int? = nil, cut: Cut? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, drop: drop, cut: cut)
  }

  /// Makes a fault that answers late, by so many seconds.
  package static func delay(
    _ seconds: Double, on route: RouteClass, every: Int = 1, times: Int? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, delay: seconds)
  }

  /// Makes a fault that sends a hostile response.
  package static func response(
    _ response: HostileResponse, on route: RouteClass, every: Int = 1, times: Int? = nil, status: Int? = nil,
    work: Work? = nil, location: String? = nil, size: Int? = nil, interval: Double? = nil
  ) -> Fault {
    Fault(
      route: route, every: every, times: times, status: status, response: response, work: work,
      location: location, size: size, interval: interval)
  }

  /// Throws where the fault contradicts itself or would do nothing.
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
    if retryAfter != nil && status == nil { throw Invalid(description: "retry_after needs a status") }
    if cut != nil && drop == nil {
      throw Invalid(description: "cut needs a drop or a response that is cut off")
    }
    let settings: [(name: String, isGiven: Bool)] = [
      ("work", work != nil), ("location", location != nil), ("size", size != nil),
      ("interval", interval != nil),
    ]
    for setting in settings where setting.isGiven {
      throw Invalid(description: "\(setting.name) needs a response")
    }
    if status != nil && drop != nil {
      throw Invalid(description: "status and drop exclude each other: a dropped connection has no response")
    }
    if status == nil && drop == nil && delay == nil {
      throw Invalid(description: "nothing would go wrong: give a status, a drop, a delay or a response")
    }
  }

  private func validate(_ response: HostileResponse) throws(Invalid) {
    let name = "response=\(response.rawValue)"
    if drop != nil {
      throw Invalid(description: "drop and response exclude each other: a dropped connection has no response")
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
      throw Invalid(description: "\(setting.name) means nothing to \(name)")
    }
    if let statuses = taken.statuses {
      guard let status = status ?? taken.status else {
        throw Invalid(description: "\(name) needs a status")
      }
      guard statuses.contains(status) else {
        let (first, last) = (statuses.lowerBound, statuses.upperBound)
        throw Invalid(description: "the status of \(name) must be between \(first) and \(last)")
      }
    }
    if response == .foreignURL && location == nil { throw Invalid(description: "\(name) needs a location") }
    // Anything else would write header fields or JSON of its own.
    let isPlain =
      location?.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"\"\\".utf8.contains($0) } ?? true
    guard isPlain, location?.isEmpty != true else {
      throw Invalid(
        description: "location must be a URL in printable ASCII, without blanks, quotes and backslashes")
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
    // A key that is not known is a mistake in a fault, which would otherwise happen at every request.
    let given = try decoder.container(keyedBy: AnyKey.self).allKeys
    if let unknown = given.first(where: { CodingKeys(rawValue: $0.stringValue) == nil }) {
      throw Invalid(description: "'\(unknown.stringValue)' is no key of a fault")
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

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

  /// Which requests are counted.
  package var route: RouteClass
  /// The fault happens at every nth of them.
  package var every = 1
  /// It happens this often at most; nil sets no bound.
  package var times: Int?
  /// This status is answered, and nothing is carried out.
  package var status: Int?
  /// `Retry-After` on that answer, in seconds.
  package var retryAfter: Int?
  /// The connection is dropped.
  package var drop: Drop?
  /// How it is dropped.
  package var cut = Cut.reset
  /// The answer, or the drop, comes this many seconds late; the work is done on time.
  package var delay: Double?

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
    _ drop: Drop, on route: RouteClass, every: Int = 1, times: Int? = nil, cut: Cut = .reset
  ) -> Fault {
    Fault(route: route, every: every, times: times, drop: drop, cut: cut)
  }

  /// Makes a fault that answers late, by so many seconds.
  package static func delay(
    _ seconds: Double, on route: RouteClass, every: Int = 1, times: Int? = nil
  ) -> Fault {
    Fault(route: route, every: every, times: times, delay: seconds)
  }

  /// Throws where the fault contradicts itself or would do nothing.
  func validate() throws(Invalid) {
    if every < 1 { throw Invalid(description: "every must be at least 1") }
    if let times, times < 1 { throw Invalid(description: "times must be at least 1") }
    if let status, !(200...599).contains(status) {
      throw Invalid(description: "status must be between 200 and 599")
    }
    if let delay, !(0...3600).contains(delay) {
      throw Invalid(description: "delay must be between 0 and 3600 seconds")
    }
    if let retryAfter, retryAfter < 0 { throw Invalid(description: "retry_after must not be negative") }
    if retryAfter != nil && status == nil { throw Invalid(description: "retry_after needs a status") }
    if status != nil && drop != nil {
      throw Invalid(description: "status and drop exclude each other: a dropped connection has no answer")
    }
    if status == nil && drop == nil && delay == nil {
      throw Invalid(description: "nothing would go wrong: give a status, a drop or a delay")
    }
  }
}

extension Fault: Codable {
  private enum CodingKeys: String, CodingKey {
    case route, every, times, status, drop, cut, delay
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
    every = try container.decodeIfPresent(Int.self, forKey: .every) ?? 1
    times = try container.decodeIfPresent(Int.self, forKey: .times)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    retryAfter = try container.decodeIfPresent(Int.self, forKey: .retryAfter)
    drop = try container.decodeIfPresent(Drop.self, forKey: .drop)
    cut = try container.decodeIfPresent(Cut.self, forKey: .cut) ?? .reset
    delay = try container.decodeIfPresent(Double.self, forKey: .delay)
    try validate()
  }
}

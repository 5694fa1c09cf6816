extension Fault {
  /// Parses a fault from a command line: `ROUTE:KEY=VALUE,…`.
  ///
  /// | spec | effect |
  /// |---|---|
  /// | `commit:every=7,status=500` | every seventh commit gets a 500 response and is not executed |
  /// | `content:every=5,drop=before` | at every fifth body, the connection is reset and nothing is stored |
  /// | `commit:every=4,drop=after,cut=close` | every fourth commit is executed, but gets no response |
  /// | `any:every=10,status=429,retry_after=1` | every tenth request of any kind gets a 429 response |
  /// | `allocate:times=2,delay=0.2` | the responses to the first two allocations are delayed |
  /// | `file:match=/a.json,status=404` | every request for a path that contains `/a.json` gets a 404 response |
  /// | `commit:response=redirect,status=303,location=/login,work=done` | every commit is executed and redirected |
  package init(spec: String) throws(Invalid) {
    let parts = spec.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let name = parts.first, let settings = parts.last else {
      throw Invalid(description: "'\(spec)' is not ROUTE:KEY=VALUE,…")
    }
    guard let route = RouteClass(rawValue: String(name)) else {
      let known = RouteClass.allCases.map(\.rawValue).joined(separator: ", ")
      throw Invalid(description: "'\(name)' is not a route; the routes are \(known)")
    }
    self.init(route: route)
    var seen: Set<Substring> = []
    for setting in settings.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, let key = sides.first, let value = sides.last else {
        throw Invalid(description: "'\(setting)' is not KEY=VALUE")
      }
      guard seen.insert(key).inserted else { throw Invalid(description: "'\(key)' is specified twice") }
      try set(key, to: String(value))
    }
    try validate()
  }

  private mutating func set(_ key: Substring, to value: String) throws(Invalid) {
    func read<Value>(_ value: Value?, _ wanted: String) throws(Invalid) -> Value {
      guard let value else { throw Invalid(description: "'\(key)' must be \(wanted)") }
      return value
    }
    switch key {
    case "match": match = value
    case "every": every = try read(Int(value), "a number")
    case "times": times = try read(Int(value), "a number")
    case "status": status = try read(Int(value), "a status such as 503")
    case "retry_after": retryAfter = try read(Int(value), "whole seconds")
    case "delay": delay = try read(Double(value), "seconds")
    case "drop": drop = try read(Drop(rawValue: value), "before or after")
    case "cut": cut = try read(Cut(rawValue: value), "reset or close")
    case "response":
      response = try read(
        HostileResponse(rawValue: value), "a hostile response, which 'ferry-receiver --list-faults' lists")
    case "work": work = try read(Work(rawValue: value), "none or done")
    case "location": location = value
    case "size": size = try read(Int(value), "bytes")
    case "interval": interval = try read(Double(value), "seconds")
    default:
      throw Invalid(description: "'\(key)' is not a key; the keys are \(Self.keys)")
    }
  }

  private static let keys =
    "match, every, times, status, retry_after, drop, cut, delay, response, work, location, size, interval"
}

import CCurl

/// The limits of libcurl's caches of connections and host names, whose cost would otherwise grow with the number of
/// hosts.
struct ConnectionCaches {
  /// The least limit of the number of connections.
  private static let leastConnections = 128
  /// How long libcurl keeps the addresses of a host name, in seconds; libcurl's default.
  private static let nameLifetime = 60
  /// The time between two searches for old host names.
  private static let pruneInterval: Duration = .seconds(1)

  private var connectionLimit = 0
  private var nextPrune = SuspendingClock.now

  /// Sets the limit of the number of connections, in use or idle, above which libcurl closes the oldest idle one. It must
  /// exceed the number of requests in flight: libcurl would otherwise close a connection after each request. A larger
  /// limit costs time, because libcurl visits all connections to find the oldest.
  mutating func keepConnections(of requests: Int, _ multi: UnsafeMutableRawPointer) {
    let needed = max(Self.leastConnections, 2 * requests)
    guard needed > connectionLimit else { return }
    // Doubled, so that the limit is rarely set.
    connectionLimit = max(needed, 2 * connectionLimit)
    ferry_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connectionLimit)
  }

  /// The value of `CURLOPT_DNS_CACHE_TIMEOUT` for the next hop. libcurl visits all cached names at the start and end of
  /// each hop that has a timeout, so only one hop in each second has one; -1 means none. While requests are sent, the
  /// addresses of a name are thus used for little more than a minute.
  mutating func nameTimeout(at now: SuspendingClock.Instant) -> Int {
    guard now >= nextPrune else { return -1 }
    nextPrune = now.advanced(by: Self.pruneInterval)
    return Self.nameLifetime
  }
}

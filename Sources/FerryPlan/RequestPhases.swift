/// How long the phases of a request took, over all its redirects.
package struct RequestPhases: Hashable, Sendable {
  /// The time until the name was resolved; zero if no connection was opened.
  package var nameResolution = Duration.zero
  /// The time until the server, or the proxy, accepted the connection; zero if no connection was opened.
  package var connect = Duration.zero
  /// The time of the TLS handshake, including the tunnel through a proxy; zero without a handshake.
  package var tls = Duration.zero
  /// The time from the start of sending the request to the first byte of its final response; `nil` without a response.
  package var firstByte: Duration?
  package var connection = Connection.none

  package enum Connection: Hashable, Sendable {
    /// No connection could be established.
    case none
    /// At least one connection was opened.
    case new
    /// All requests were sent on connections that earlier requests had opened.
    case reused
  }

  package init() {}

  /// Adds the phases of the next request, after a redirect.
  package static func + (a: RequestPhases, b: RequestPhases) -> RequestPhases {
    var sum = a
    sum.nameResolution += b.nameResolution
    sum.connect += b.connect
    sum.tls += b.tls
    sum.firstByte = b.firstByte.map { $0 + (a.firstByte ?? .zero) } ?? a.firstByte
    switch (a.connection, b.connection) {
    case (_, .none): break
    case (.new, _), (_, .new): sum.connection = .new
    case (_, .reused): sum.connection = .reused
    }
    return sum
  }
}

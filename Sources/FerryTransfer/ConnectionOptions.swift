/// How the connections for a request are made. The requests of a session share one object.
package final class ConnectionOptions: Sendable {
  /// The default settings, for requests without a session.
  package static let plain = ConnectionOptions(tls: TLSOptions())

  let tls: TLSOptions

  package init(tls: TLSOptions) { self.tls = tls }
}

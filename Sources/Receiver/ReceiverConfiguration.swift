import Foundation

/// What a ``ReceiverServer`` is told when it is made.
///
/// Time comes in from outside, so that a test lets a token or an upload ID expire by moving its clock.
package struct ReceiverConfiguration: Sendable {
  /// The port on 127.0.0.1; 0 takes any free one.
  package var port: UInt16 = 0
  /// The folder for received bytes; created if it is missing, never emptied.
  package var directory: URL
  /// How long an access token is good for.
  package var tokenLife: Duration = .seconds(3600)
  /// How long an upload ID is good for.
  package var uploadLife: Duration = .seconds(3600)
  /// The only client ID that gets a token; nil accepts any.
  package var clientID: String?
  /// The only client secret that gets a token; nil accepts any.
  package var clientSecret: String?
  /// Whether every route but the token's, the listing's and the faults' wants a valid bearer token.
  package var requiresToken = false
  /// The faults that are in force from the start.
  package var faults: [Fault] = []
  /// A file that gets every byte that clients send; nil keeps no record.
  package var record: URL?
  /// The moment now, for lives and for `Last-Modified`.
  package var now: @Sendable () -> Date = { Date() }
  /// Waits; only a fault with a delay does.
  package var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Gets one line for each request: method, path and status (or the name of a hostile response), no
  /// header and no query.
  package var log: (@Sendable (String) -> Void)?

  package init(directory: URL) {
    self.directory = directory
  }
}

import Foundation

/// The configuration of a receiver.
///
/// The clock is a parameter, so that a test can make a token or an upload ID expire by moving it.
package struct ReceiverConfiguration: Sendable {
  /// The port on 127.0.0.1; 0 means any free one.
  package var port: UInt16 = 0
  /// The folder for received bytes; created if it is missing, never emptied.
  package var directory: URL
  /// How long an access token is valid.
  package var tokenLife: Duration = .seconds(3600)
  /// How long an upload ID is valid.
  package var uploadLife: Duration = .seconds(3600)
  /// The only client ID that gets a token; nil accepts any.
  package var clientID: String?
  /// The only client secret that gets a token; nil accepts any.
  package var clientSecret: String?
  /// Whether a valid bearer token is required for every route except those of the token, the listing and the
  /// faults.
  package var requiresToken = false
  /// The faults that are active from the start.
  package var faults: [Fault] = []
  /// A file to which every byte that clients send is written; nil writes no record.
  package var record: URL?
  /// The current time, for lifetimes and for `Last-Modified`.
  package var now: @Sendable () -> Date = { Date() }
  /// Waits. Only a fault with a delay uses it.
  package var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Receives one line for each request: method, path and status (or the name of a hostile response), without
  /// headers and query.
  package var log: (@Sendable (String) -> Void)?

  package init(directory: URL) {
    self.directory = directory
  }
}

import Foundation

/// The configuration of a receiver.
///
/// The clock is a parameter, so that a test can make a token or an upload ID expire by advancing it.
package struct ReceiverConfiguration: Sendable {
  /// The port on 127.0.0.1; 0 selects any free port.
  package var port: UInt16 = 0
  /// The folder for received bytes. It is created if it is missing, and never emptied.
  package var directory: URL
  /// How long an access token is valid.
  package var tokenLife: Duration = .seconds(3600)
  /// How long an upload ID is valid.
  package var uploadLife: Duration = .seconds(3600)
  /// The only accepted client ID; nil accepts any.
  package var clientID: String?
  /// The only accepted client secret; nil accepts any.
  package var clientSecret: String?
  /// Whether every route requires a valid bearer token, except the routes of the token, the listing and the
  /// faults.
  package var requiresToken = false
  /// The faults that are active from the start.
  package var faults: [Fault] = []
  /// The file that records all bytes sent by clients; nil disables recording.
  package var record: URL?
  /// The current time, for lifetimes and for `Last-Modified`.
  package var now: @Sendable () -> Date = { Date() }
  /// Waits for a duration. It is used only for the delay of a fault.
  package var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Receives one line for each request: method, path and status (or the name of a hostile response),
  /// without header fields and query.
  package var log: (@Sendable (String) -> Void)?

  package init(directory: URL) {
    self.directory = directory
  }
}

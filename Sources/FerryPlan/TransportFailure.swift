/// Why a request ended without an answer that could be judged.
package struct TransportFailure: Hashable, Codable, Sendable, Error {
  /// Stable codes: they go into reports; the prose beside them may change.
  package enum Code: String, Hashable, Codable, Sendable, CaseIterable {
    /// The name was not resolved.
    case nameResolution = "name_resolution"
    /// No connection: refused, unreachable, or not made in time.
    case connect
    /// The TLS handshake failed for a reason that may pass.
    case handshake
    /// The server's certificate is not trusted, or is for another name.
    case certificate
    /// The connection broke.
    case connectionLost = "connection_lost"
    /// No byte for as long as `timeout_for_request`.
    case requestTimeout = "request_timeout"
    /// The item, or the node, took longer than `timeout_for_resource`.
    case resourceTimeout = "resource_timeout"
    /// A body would go beyond the request's limit of bytes.
    case byteLimit = "byte_limit"
    /// The answer is not HTTP, or breaks its rules.
    case malformedResponse = "malformed_answer"
    /// The answer is larger than what is kept of it, or than a fetch's `max_size`.
    case responseTooLarge = "answer_too_large"
    /// More redirects than are followed, one that leads nowhere, or a sensitive request that would reach an origin
    /// which the manifest does not name.
    case redirect
    /// The source is not there.
    case sourceMissing = "source_missing"
    /// The source cannot be read.
    case sourceUnreadable = "source_unreadable"
    /// The source is not as it was listed, or changed while it was read.
    case sourceChanged = "source_changed"
    /// What was received cannot be stored.
    case destination
    /// The request cannot be formed: a reference without a value, a header with a line end.
    case request
    /// A capture that later steps need is not in the answer.
    case capture
    /// ferry ended it: a signal, `cancel`, the end of a launch.
    case cancelled
  }

  package var code: Code
  /// For people; holds no secret.
  package var message: String
  /// Whether any byte of the request may have reached the server.
  package var mayHaveReachedServer: Bool

  package init(_ code: Code, _ message: String, mayHaveReachedServer: Bool) {
    self.code = code
    self.message = message
    self.mayHaveReachedServer = mayHaveReachedServer
  }
}

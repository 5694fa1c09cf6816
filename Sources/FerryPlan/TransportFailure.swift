/// The reason why a request ended without a usable response.
package struct TransportFailure: Hashable, Codable, Sendable, Error {
  /// Stable codes, which are written to reports. The wording of messages may change.
  package enum Code: String, Hashable, Codable, Sendable, CaseIterable {
    /// The host name could not be resolved.
    case nameResolution = "name_resolution"
    /// No connection was established: it was refused, the host was unreachable, or the attempt timed out.
    case connect
    /// The TLS handshake failed for a reason that may be temporary.
    case handshake
    /// The server's certificate is not trusted, or was issued for a different name.
    case certificate
    /// The connection was lost.
    case connectionLost = "connection_lost"
    /// No byte was transferred for the duration of `timeout_for_request`.
    case requestTimeout = "request_timeout"
    /// The item, or the node, took longer than `timeout_for_resource`.
    case resourceTimeout = "resource_timeout"
    /// A body would exceed the request's byte limit.
    case byteLimit = "byte_limit"
    /// The response is not HTTP, or violates the rules of HTTP.
    case malformedResponse = "malformed_answer"
    /// The response is larger than the limit for a kept response, or than the `max_size` of a fetch or
    /// download.
    case responseTooLarge = "answer_too_large"
    /// More redirects than allowed, a redirect without a usable target, or a sensitive request that would
    /// reach an origin that the manifest does not list.
    case redirect
    /// The source file does not exist.
    case sourceMissing = "source_missing"
    /// The source file cannot be read.
    case sourceUnreadable = "source_unreadable"
    /// The source file differs from its listing, or changed while it was read.
    case sourceChanged = "source_changed"
    /// The received data cannot be stored.
    case destination
    /// The request cannot be created: for example, a reference has no value, or a header field contains a
    /// line break.
    case request
    /// The response lacks a capture that later steps need.
    case capture
    /// The request was not sent, because captures now lead to a server other than the one that has the upload
    /// ID or the file.
    case otherServer = "other_server"
    /// ferry ended the request: for example, because of a signal, `ferry cancel`, or a change of the network.
    case cancelled
  }

  package var code: Code
  /// A message for users, which contains no secrets.
  package var message: String
  /// Whether any byte of the request may have reached the server.
  package var mayHaveReachedServer: Bool
  /// Whether a server redirected the request before it failed. That server received it, even if no request was sent to
  /// the target.
  package var isRedirected = false
  /// The size of the request's body in bytes, if the request was not sent because fewer bytes are reserved for it.
  package var refusedBodySize: Int64?

  package init(_ code: Code, _ message: String, mayHaveReachedServer: Bool) {
    self.code = code
    self.message = message
    self.mayHaveReachedServer = mayHaveReachedServer
  }

  package func withMessage(_ message: String) -> TransportFailure {
    var copy = self
    copy.message = message
    return copy
  }
}

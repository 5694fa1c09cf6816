/// The progress that a run publishes for `ferry status`. Its keys are part of the public interface.
package struct RunProgress: Hashable, Codable, Sendable {
  /// The run's identifier.
  package var run: String
  package var pid: Int32
  package var startedAt: String
  /// The time at which the progress was published.
  package var at: String
  /// The number of items that the run has completed, and the number that it may still work on.
  package var itemsDone: Int
  package var itemsOpen: Int
  /// `true` while files are being listed, so that `itemsOpen` will increase; otherwise `nil`.
  package var listing: Bool?
  /// The number of items and single requests that have failed, or may have been executed, in the round.
  package var failed: Int
  /// The bytes of files transferred so far.
  package var bytes: Int64
  /// The number of requests in progress.
  package var inFlight: Int
  /// What the run waits for, if no request is in progress.
  package var waitsFor: NodeActivity?
  /// The longest-running requests, at most `mostRequests`.
  package var requests: [ActiveRequest]

  /// The largest number of requests that are published.
  package static let mostRequests = 20

  package init(
    run: String, pid: Int32, startedAt: Instant, at: Instant, itemsDone: Int, itemsOpen: Int,
    isListing: Bool = false, failed: Int, bytes: Int64, inFlight: Int, waitsFor: NodeActivity?,
    requests: [ActiveRequest]
  ) {
    self.run = run
    self.pid = pid
    self.startedAt = startedAt.rfc3339
    self.at = at.rfc3339
    self.itemsDone = itemsDone
    self.itemsOpen = itemsOpen
    listing = isListing ? true : nil
    self.failed = failed
    self.bytes = bytes
    self.inFlight = inFlight
    self.waitsFor = waitsFor
    self.requests = requests
  }
}

/// A request in progress.
package struct ActiveRequest: Hashable, Codable, Sendable {
  /// The node; `MANIFEST/NODE` if the run has several manifests.
  package var node: String
  /// The path of the item; `nil` for a node with a single request.
  package var path: String?
  /// The bytes of the path in Base64, if the path is not valid UTF-8.
  package var pathBase64: String?
  package var step: Step.Kind
  /// The size of the file; `nil` for a node with a single request.
  package var size: Int64?
  /// For a request that sends a file: the position in the file up to which bytes have been sent, including
  /// the bytes of earlier parts. For another request: the bytes of its body and of its response's body.
  package var bytes: Int64
  package var seconds: Double

  package init(
    node: String, path: [UInt8]?, step: Step.Kind, size: Int64?, bytes: Int64, seconds: Double
  ) {
    self.node = node
    self.path = path.map { String(decoding: $0, as: UTF8.self) }
    pathBase64 = path.flatMap { DisplayPath.base64($0) }
    self.step = step
    self.size = size
    self.bytes = bytes
    self.seconds = seconds
  }
}

import FerryPlan

/// One HTTP request, ready to be sent.
package struct TransferRequest: Sendable {
  /// Chosen by the caller; names the request in its outcome.
  package var id: UInt64
  package var method: String
  /// Absolute, http or https, already percent-encoded.
  package var url: String
  package var headers: [HeaderField]
  package var body: Body
  package var destination: Destination
  /// Idle time: no byte either way for this long fails with `requestTimeout`.
  package var idleTimeout: Duration
  /// Bound of the whole request, from its start; fails with `resourceTimeout`. `nil` for none.
  package var timeLimit: Duration?
  /// Body bytes that may be moved, in each direction and over all redirects; `nil` for any number. What
  /// would be more fails with `byteLimit`: unsent, at the header that announces it, or where an answer
  /// goes beyond. Of such an answer nothing is kept, and at most 16 KiB more than the limit are read.
  package var byteLimit: Int64?
  /// The most bytes that are stored as a file. A larger response fails with `responseTooLarge`: at the header that
  /// announces it, or where it goes beyond. `nil` for no bound.
  package var sizeLimit: Int64?
  /// The request must reach the wire once at most, also where libcurl would quietly send it again
  /// on a fresh connection; a second attempt is aborted and ends as `connectionLost`.
  package var atMostOnce: Bool
  /// Looks at a whole download before it takes its file's place.
  package var check: DownloadCheck?
  /// What must not reach another origin than the manifest names.
  package var sensitive: SensitiveParts
  package var redirects: Redirects

  package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String
    /// Why it is kept from other origins; `nil` for a field that may go anywhere.
    package var sensitivity: Sensitivity?

    package init(name: String, value: String, sensitivity: Sensitivity? = nil) {
      self.name = name
      self.value = value
      self.sensitivity = sensitivity
    }
  }

  package enum Body: Sendable {
    case none
    /// With its Content-Type among `headers`.
    case bytes([UInt8])
    case file(FileSource)
  }

  /// A file to send as it is on disk.
  package struct FileSource: Sendable {
    /// The file is opened beneath this folder and nowhere else.
    package var root: SourceRoot
    /// Relative to `root`, as bytes: not every name is UTF-8.
    package var path: [UInt8]
    /// In bytes, as listed. A file of another size or time fails with `sourceChanged`, unsent.
    package var size: Int64
    /// Nanoseconds since 1970, as listed.
    package var modified: Int64
    /// `stat.identity`, as listed; 0 where it is not known. Another file fails with `sourceChanged`, unsent.
    package var identity: UInt64
    /// Hash what is sent, on the helper thread.
    package var wantsSHA256: Bool

    package init(
      root: SourceRoot, path: [UInt8], size: Int64, modified: Int64, identity: UInt64 = 0,
      wantsSHA256: Bool = false
    ) {
      self.root = root
      self.identity = identity
      self.path = path
      self.size = size
      self.modified = modified
      self.wantsSHA256 = wantsSHA256
    }
  }

  /// What has to hold of a download. Asked on a helper thread.
  package struct DownloadCheck: Sendable {
    /// The largest body that is read: what is longer fails with `responseTooLarge`.
    package static let bodyLimit = 16 << 20

    /// Whether `refusal` looks at the body.
    package var readsBody: Bool
    /// Why the answer is not to be stored; `nil` where it is.
    package var refusal: @Sendable (TransferResponse) -> String?

    package init(readsBody: Bool, refusal: @escaping @Sendable (TransferResponse) -> String?) {
      self.readsBody = readsBody
      self.refusal = refusal
    }
  }

  /// Where the answer's body goes.
  package enum Destination: Sendable {
    /// In memory for captures, at most `limit` bytes; what is longer fails with `responseTooLarge`
    /// where `isNeeded`, and is otherwise counted and dropped.
    case memory(limit: Int, isNeeded: Bool)
    /// Atomically onto this path: the body of a response with one of these statuses is written to a temporary
    /// file beside it, synced, and renamed over it. Any other response's body goes to memory, at most 64 KiB of
    /// it, and the file stays as it is, as it does for a response to HEAD. One that has a `Content-Encoding` which
    /// the request did not ask for is refused.
    case file(path: String, statuses: [Int] = [200])
  }

  package init(
    id: UInt64, method: String, url: String, headers: [HeaderField] = [], body: Body = .none,
    destination: Destination = .memory(limit: 1 << 20, isNeeded: false),
    idleTimeout: Duration = .seconds(60), timeLimit: Duration? = nil, byteLimit: Int64? = nil,
    sizeLimit: Int64? = nil, atMostOnce: Bool = false, check: DownloadCheck? = nil,
    sensitive: SensitiveParts = SensitiveParts(), redirects: Redirects = Redirects()
  ) {
    self.id = id
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.destination = destination
    self.idleTimeout = idleTimeout
    self.timeLimit = timeLimit
    self.byteLimit = byteLimit
    self.sizeLimit = sizeLimit
    self.atMostOnce = atMostOnce
    self.check = check
    self.sensitive = sensitive
    self.redirects = redirects
  }
}

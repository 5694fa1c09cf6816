import FerryDigest
import FerryPlan

/// One HTTP request that is ready to be sent.
package struct TransferRequest: Sendable {
  /// An ID chosen by the caller, which identifies the request in its outcome.
  package var id: UInt64
  package var method: String
  /// An absolute http or https URL that is already percent-encoded.
  package var url: String
  package var headers: [HeaderField]
  package var body: Body
  package var destination: Destination
  /// The idle limit: if no byte is transferred in either direction for this time, the request fails with
  /// `requestTimeout`.
  package var idleTimeout: Duration
  /// The time limit of the whole request, from its start. When it is exceeded, the request fails with
  /// `resourceTimeout`. `nil` means no limit.
  package var timeLimit: Duration?
  /// The maximum number of body bytes in each direction, over all redirects; `nil` means no limit. A larger
  /// body fails with `byteLimit`: a request body before it is sent, a response body at the end of its header
  /// section if it announces the size, otherwise when it exceeds the limit. Such a response is not kept, and
  /// at most 16 KiB more than the limit are read.
  package var byteLimit: Int64?
  /// The 3xx statuses that count as success. Such a response to a request whose body has not been sent completely fails with
  /// `connectionLost`, as a 2xx does.
  package var successfulRedirects: [Int] = []
  /// The maximum size of the request's body; `nil` means no limit. A larger body fails with `byteLimit` before it is sent.
  package var bodyLimit: Int64?
  /// The maximum number of bytes, over all redirects, of response bodies that are neither stored nor needed, such as those
  /// of redirects and error pages. More of them fail with `responseTooLarge`.
  package var unwantedBodyLimit: Int64 = 16 << 20
  /// The maximum number of times that the body is sent, over all redirects, challenges and resends; `nil` means no
  /// limit. A redirect or a challenge that would exceed it fails with `byteLimit`, and a resend by libcurl with
  /// `connectionLost`.
  package var bodyCopies: Int64?
  /// The maximum number of bytes stored as a file; `nil` means no limit. A larger response fails with
  /// `responseTooLarge`, at the end of its header section if it announces the size, otherwise when it
  /// exceeds the limit.
  package var sizeLimit: Int64?
  /// The size that a downloaded file must have; `nil` for any size. A file of another size is refused.
  package var exactSize: Int64?
  /// The name of the setting that determines `sizeLimit`, for messages.
  var sizeLimitName: String { exactSize == sizeLimit ? "the size in the list" : "max_size" }
  /// Whether the request must be sent at most once. If libcurl is about to resend it on a new connection, the request
  /// is aborted and fails with `connectionLost`.
  package var atMostOnce: Bool
  /// The parts of the request that must not reach an origin that the manifest does not name.
  package var sensitive: SensitiveParts
  package var redirects: Redirects
  /// The status of an interim response whose first occurrence with a `Location` is reported while the request is being
  /// sent (`TransferLoop.takeInterim()`); `nil` to report none.
  package var reportedInterim: Int?
  /// Whether a downloaded file gets the modification time in the response's `Last-Modified`.
  package var keepsModified = false
  /// The number of connections that a download may use at once; it must have a `partOwner` to use more than one.
  package var connections = 1
  /// The smallest range in bytes that such a download requests on its own.
  var leastRange = DocumentOptions.leastRange
  /// Whether the codings of `ContentDecoder` are removed from a response body in memory. `headers` contain
  /// the `Accept-Encoding` that requests these codings.
  package var decodes = false
  /// How the request's connections are made.
  package var connection = ConnectionOptions.plain
  /// The bandwidth limits that apply to the request.
  package var limits: [TransferLimit] = []

  /// The properties that few requests have; `nil` if this one has none.
  private var rare: Shared<Rare>?

  /// Whether the session trusts only servers with certain public keys.
  var isPinned: Bool { connection.tls.pinnedPublicKey != nil }

  package struct Condition: Sendable {
    package var field: HeaderField
    package var applies: @Sendable (_ url: String) -> Bool

    package init(field: HeaderField, applies: @escaping @Sendable (_ url: String) -> Bool) {
      (self.field, self.applies) = (field, applies)
    }
  }

  package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String
    /// The reason why the field is withheld from other origins; `nil` for a field that may be sent to any
    /// origin.
    package var sensitivity: Sensitivity?

    package init(name: String, value: String, sensitivity: Sensitivity? = nil) {
      self.name = name
      self.value = value
      self.sensitivity = sensitivity
    }
  }

  package enum Body: Sendable {
    case none
    /// A body in memory. The Content-Type is one of `headers`.
    case bytes([UInt8])
    case file(FileSource)
    /// A file within a form. The Content-Type is one of `headers`.
    case form(FileBody)

    /// The body, if a file is part of it.
    var fileBody: FileBody? {
      switch self {
      case .none, .bytes: nil
      case .file(let source): FileBody(source)
      case .form(let body): body
      }
    }
  }

  /// A file whose content is sent unchanged, or a part of it.
  package struct FileSource: Sendable {
    /// The file is opened only beneath this folder.
    package var root: SourceRoot
    /// The path relative to `root`, as bytes, because names need not be valid UTF-8.
    package var path: [UInt8]
    /// The listed size in bytes. If the file has a different size or modification time, the request fails
    /// with `sourceChanged` before anything is sent.
    package var size: Int64
    /// The listed modification time in nanoseconds since 1970.
    package var modified: Int64
    /// The listed `stat.identity`; 0 if unknown. For a different file, the request fails with
    /// `sourceChanged` before anything is sent.
    package var identity: UInt64
    /// Whether the sent bytes are hashed, on the helper thread.
    package var wantsSHA256: Bool
    /// The bytes to send; `nil` for the whole file. The range must be within the listed size.
    package var part: Range<Int64>?

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

    /// The number of bytes to send.
    package var length: Int64 { part.map { $0.upperBound - $0.lowerBound } ?? size }
  }

  /// The conditions that a download must meet. They are checked on a helper thread.
  package struct DownloadCheck: Sendable {
    /// The maximum size in bytes of a body that is read for the check. A larger body fails with
    /// `responseTooLarge`.
    package static let bodyLimit = 16 << 20

    /// Whether `refusal` reads the body.
    package var readsBody: Bool
    /// The reason why the response must not be stored; `nil` if it may be stored.
    package var refusal: @Sendable (TransferResponse) -> String?

    package init(readsBody: Bool, refusal: @escaping @Sendable (TransferResponse) -> String?) {
      self.readsBody = readsBody
      self.refusal = refusal
    }
  }

  /// The checksum that a downloaded file must have.
  package enum Checksum: Sendable {
    case digest(DigestAlgorithm, [UInt8])
    /// The header field of the response that contains the digest.
    case field(String)
  }

  /// The destination of the response body.
  package enum Destination: Sendable {
    /// In memory for captures, at most `limit` bytes. If a longer body is needed (`isNeeded`), the request
    /// fails with `responseTooLarge`; otherwise the body is counted and dropped.
    case memory(limit: Int, isNeeded: Bool)
    /// The file at this path, which is replaced atomically. The body of a response with one of these statuses
    /// is written to a temporary file next to this path, synced, and renamed. The body of any other response
    /// is kept in memory (at most 64 KiB of it) and the file is not changed; the same applies to a response
    /// to HEAD. A response with an unrequested `Content-Encoding` is refused.
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
    self.sensitive = sensitive
    self.redirects = redirects
    if let check { self.check = check }
  }
}

/// Properties that few requests have. They are stored together outside of the request, which is copied several times and
/// otherwise would retain each of their parts.
extension TransferRequest {
  private struct Rare: Sendable {
    var check: DownloadCheck?
    var condition: Condition?
    var checksum: Checksum?
    var partOwner: String?
    var missingFolder: DestinationFolder?
    var authentication: HTTPAuthentication?
    var queryToken: QueryToken?
    var signing: AWSSigning?
    var queriedFile: FileSource?
  }

  /// The check of a complete download, performed before the existing file is replaced.
  package var check: DownloadCheck? {
    get { rare?.wrappedValue.check }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.check = newValue } }
  }

  /// A header field that is sent only to certain URLs, including after redirects.
  package var condition: Condition? {
    get { rare?.wrappedValue.condition }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.condition = newValue } }
  }

  /// The checksum that a downloaded file must have; `nil` for none.
  package var checksum: Checksum? {
    get { rare?.wrappedValue.checksum }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.checksum = newValue } }
  }

  /// Identifies the work to which a download belongs. If it is set, an interrupted download leaves a part, and the
  /// next request of the same work continues the part if the server still has the same version. If it is `nil`, each
  /// download starts over.
  package var partOwner: String? {
    get { rare?.wrappedValue.partOwner }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.partOwner = newValue } }
  }

  /// The folder to create when a response is stored; `nil` if it existed when the request was made.
  package var missingFolder: DestinationFolder? {
    get { rare?.wrappedValue.missingFolder }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.missingFolder = newValue } }
  }

  /// Responds to the challenges of the servers that receive the request; `nil` for no credentials.
  package var authentication: HTTPAuthentication? {
    get { rare?.wrappedValue.authentication }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.authentication = newValue } }
  }

  /// The token in the query; `nil` if there is none.
  package var queryToken: QueryToken? {
    get { rare?.wrappedValue.queryToken }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.queryToken = newValue } }
  }

  /// Signs the request for each server that receives it; `nil` for requests without a signature.
  package var signing: AWSSigning? {
    get { rare?.wrappedValue.signing }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.signing = newValue } }
  }

  /// The file whose upload the request queries; `nil` if the request is not such a query. Its inode is in the outcome,
  /// because the response may complete the upload. If an empty file does not match its listing, the request fails like one
  /// that sends the file: no other request reads it.
  package var queriedFile: FileSource? {
    get { rare?.wrappedValue.queriedFile }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.queriedFile = newValue } }
  }
}

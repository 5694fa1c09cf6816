import FerryPlan

/// One request on its way, over all its hops.
struct Exchange {
  let key: Mailbox.Key
  let request: TransferRequest
  /// The request as the server of this hop sees it.
  var hop: RedirectPolicy.Hop
  var headers: HeaderList
  /// Header fields that were left out at the hop's origin.
  var withheld: [OriginGuard.Withheld]
  var redirects = 0

  /// How often libcurl was about to send this hop's request: more than once is a resend.
  var attempts = 0
  /// The socket of the connection that the hop's request goes over, where it is known.
  var descriptor: CInt?
  /// The connection may carry HTTP/2: it was negotiated, or libcurl does not tell.
  var mayBeHTTP2 = false
  /// The connection that libcurl chose must not be used: it is closed, and the hop is restarted.
  var needsOtherConnection = false
  /// Whether any hop's request may have reached its server.
  var hasReachedServer = false
  /// Why a callback ended the transfer; goes before libcurl's own reason.
  var failure: TransportFailure?

  /// The source of a body that is read as it is sent.
  var file: UploadFile? { didSet { if let file { sourceInode = file.inode } } }
  /// Of the file that was opened last for the body.
  var sourceInode: UInt64?
  /// Of the next byte that libcurl asks for.
  var offset: Int64 = 0
  /// Bytes of `file` that libcurl was given, over all hops and attempts.
  var handedOver: Int64 = 0
  /// The size of this hop's body.
  var bodySize: Int64 = 0
  var digest = Digest.notWanted
  /// Bytes that the hash thread has not hashed yet.
  var hashBacklog = 0
  var isPaused = false

  var sink = Sink.undecided
  /// The body as far as it is kept in memory.
  var body: [UInt8] = []
  /// How the body of the response ends; `nil` until its header section has ended.
  var framing: ResponseFraming?
  /// Of a stored body that ends with its TLS connection.
  var sessionEnd: TLSSession.End?
  /// How much of the request's body had been sent when the response's header section ended, if not all of it.
  var bodySentAtResponse: Int64?
  /// Body bytes of the response that `framing` is of.
  var responseBody: Int64 = 0
  /// Of this hop.
  var bodyReceived: Int64 = 0
  var headersReceived: Int64 = 0
  /// Of the hops that are closed.
  var traffic = Traffic()
  /// This hop's counters are in `traffic`.
  var isHopClosed = false

  let started: SuspendingClock.Instant
  let deadline: SuspendingClock.Instant?
  var lastProgress: SuspendingClock.Instant
  /// All bytes of this hop both ways at `lastProgress`.
  var lastCount: Int64 = 0
  /// libcurl is done with it; a digest or a stored file is awaited.
  var isSettling = false
  /// Why a download is not put in its place.
  var refusal: String?
  var isStoring = false
  var storedFile: FileVersion?

  enum Digest {
    case notWanted
    /// Pieces go to the hash thread as they are sent.
    case streaming
    /// All pieces are there; the digest will be posted.
    case finishing
    case done([UInt8])
  }

  /// Where the body of the answer goes, decided by its status.
  enum Sink {
    case undecided
    case dropped
    case memory(limit: Int, isNeeded: Bool)
    case file(DownloadFile)
  }

  init(
    key: Mailbox.Key, request: TransferRequest, hop: RedirectPolicy.Hop, headers: HeaderList,
    withheld: [OriginGuard.Withheld], now: SuspendingClock.Instant
  ) {
    self.key = key
    self.request = request
    self.hop = hop
    self.headers = headers
    self.withheld = withheld
    started = now
    lastProgress = now
    deadline = request.timeLimit.map { now.advanced(by: $0) }
  }

  /// Whether the body of a response of this status goes to the file of `Destination.file`.
  func storesBody(status: Int) -> Bool {
    guard case .file(_, let statuses) = request.destination, hop.method != "HEAD" else { return false }
    return statuses.contains(status)
  }

  /// The size of the response's body, where its header section states it.
  private var announced: Int64? {
    if case .length(let length) = framing { length } else { nil }
  }

  /// Fails with `destination`.
  func sink(status: Int) throws(TransportFailure) -> Sink {
    if RedirectPolicy.isFollowed(status: status, method: hop.method) {
      return .memory(limit: 64 << 10, isNeeded: false)
    }
    switch request.destination {
    case .memory(let limit, let isNeeded):
      // An error's page is not what is needed, and must not hide its status.
      return .memory(limit: limit, isNeeded: isNeeded && 200...299 ~= status)
    case .file(let path, _):
      guard storesBody(status: status) else { return .memory(limit: 64 << 10, isNeeded: false) }
      return .file(try DownloadFile(path, announced: announced))
    }
  }
}

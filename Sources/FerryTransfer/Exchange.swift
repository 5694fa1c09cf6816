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
  /// Why a whole download was not put in its place.
  var refusal: String?
  var isStoring = false

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

  /// The path of a `Destination.file` that an answer of this status is written to.
  ///
  /// 204 and 205 have no body to replace the file with, and a 206 is a part that only its asker can
  /// place.
  func downloadPath(status: Int) -> String? {
    guard case .file(let path) = request.destination, 200...299 ~= status else { return nil }
    switch status {
    case 204, 205, 206: return nil
    default: return path
    }
  }

  /// Fails with `destination`.
  ///
  /// - Parameter announced: the body's size, where the header says it.
  func sink(status: Int, announced: Int64?) throws(TransportFailure) -> Sink {
    if RedirectPolicy.isFollowed(status: status, method: hop.method) {
      return .memory(limit: 64 << 10, isNeeded: false)
    }
    switch request.destination {
    case .memory(let limit, let isNeeded):
      // An error's page is not what is needed, and must not hide its status.
      return .memory(limit: limit, isNeeded: isNeeded && 200...299 ~= status)
    case .file:
      guard let path = downloadPath(status: status) else {
        return .memory(limit: 64 << 10, isNeeded: false)
      }
      return .file(try DownloadFile(path, announced: announced))
    }
  }
}

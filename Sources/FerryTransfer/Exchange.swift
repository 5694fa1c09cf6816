import FerryPlan

/// One request in progress, over all its hops.
///
/// This is a class because a struct of this size would be copied in each callback.
final class Exchange {
  let key: TransferKey
  let request: TransferRequest
  /// The request in the form in which this hop's server receives it.
  var hop: RedirectPolicy.Hop
  var headers: HeaderList
  /// Header fields that were withheld from the hop's origin.
  var withheld: [OriginGuard.Withheld]
  var redirects = 0
  /// The number of challenges to which ferry has responded.
  var challengesAnswered = 0
  /// The reason why the server's last challenge was not met.
  var challengeProblem: String?
  /// Whether the server responded with success to a request of a handshake, which has no body. libcurl then sends the
  /// request with its body, but without credentials.
  var handshakeHadSuccess = false

  /// The number of times that libcurl was about to send this hop's request. More than one means a resend.
  var attempts = 0
  /// The socket of the connection for the hop's request; `nil` if unknown.
  var descriptor: CInt?
  /// Whether the connection may carry HTTP/2: HTTP/2 was negotiated, or libcurl does not report the protocol.
  var mayBeHTTP2 = false
  /// Whether the connection that libcurl chose must not be used. It is then closed, and the hop is restarted.
  var needsOtherConnection = false
  /// Whether the request needs a new connection, because libcurl chose one that must not be used.
  var needsNewConnection = false
  /// Whether the client certificate is presented to the hop's server.
  var isIdentified: Bool { OriginGuard.mayIdentify(request, at: hop.url) }
  /// Whether any hop's request may have reached its server.
  var hasReachedServer = false
  /// The reason why a callback aborted the transfer. It takes precedence over libcurl's own reason.
  var failure: TransportFailure?

  /// The parts of a body that contains a file.
  let fileBody: FileBody?
  /// The source of a body that is read while it is sent.
  var file: UploadFile? { didSet { if let file { sourceInode = file.inode } } }
  /// The inode of the file that was last opened for the body.
  var sourceInode: UInt64?
  /// The offset of the next byte that libcurl will request.
  var offset: Int64 = 0
  /// For a body that is read while it is sent: the bytes passed to libcurl, over all hops and attempts.
  var handedOver: Int64 = 0
  /// Body bytes that libcurl sent in the closed hops.
  var bodySentBefore: Int64 = 0
  /// The bytes of a file that libcurl had read in this hop when ferry stopped it from resending them.
  var sentBeforeResend: Int64 = 0
  /// The size of this hop's body.
  var bodySize: Int64 = 0
  var digest = Digest.notWanted
  /// Bytes waiting to be hashed by the hash thread.
  var hashBacklog = 0
  var pauses: Pauses = []
  var isPaused: Bool { !pauses.isEmpty }
  /// The bytes that the bandwidth limits allow.
  var credits: [BandwidthCredit]
  /// Whether the hop waits for its limits before it starts.
  var isHeld = false

  var sink = Sink.undecided
  /// The bytes that the request asks for.
  var range = RangeRequest.whole
  /// The place at which the next bytes of the body are written to the file.
  var position = DownloadFile.Position()
  /// The download over several connections to which the exchange belongs; `nil` for any other request.
  var segments: SegmentedDownload?
  /// Whether the hop is to be sent again, because it asked for a range that its server does not send.
  var needsOtherRange = false
  /// Whether the request for the range was sent again from the URL of the download, because the target of a redirect
  /// refused it.
  var isRestarted = false
  /// The part of the download that an earlier request has left; `nil` if there is none.
  var kept: DownloadFile?
  /// The number of bytes that `kept` had when the request was started.
  var keptBefore: Int64 = 0
  /// The record of `kept` when the request was started, if the response has the rest of the document in
  /// `kept`.
  var continued: PartRecord?
  /// The file that the body is written to, until it is being stored.
  var fileSink: DownloadFile? { if case .file(let file) = sink { file } else { nil } }
  /// The part of the body that is kept in memory.
  var body: [UInt8] = []
  /// An interim response that has not been reported yet, and whether there was one.
  var interim: TransferResponse?
  var hasInterim = false
  /// Whether the interim responses to the hop are ignored.
  var ignoresInterim = false
  /// Whether the last response refers the request elsewhere, and the caller must send it again.
  var isReferred = false
  /// How the end of the response body is determined; `nil` until the header section has ended.
  var framing: ResponseFraming?
  /// How the TLS session ended, for a stored body that is delimited by the end of its connection.
  var sessionEnd: TLSSession.End?
  /// The number of bytes of the request body that had been sent when the response's header section ended;
  /// `nil` if the whole body had been sent.
  var bodySentAtResponse: Int64?
  /// Body bytes received of the response described by `framing`.
  var responseBody: Int64 = 0
  /// Body bytes received over all hops that were neither stored nor needed.
  var unwantedReceived: Int64 = 0
  /// Body bytes received in this hop.
  var bodyReceived: Int64 = 0
  var headersReceived: Int64 = 0
  /// The traffic of the closed hops.
  var traffic = Traffic()
  /// The bytes of the file that the last closed hop has sent.
  var sentInHop: Int64 = 0
  /// Whether `traffic` already includes this hop's counters.
  var isHopClosed = false

  /// Whether the hops are recorded.
  let isTraced: Bool
  /// The hops that have ended, with the time at which each started.
  var hops: [(SuspendingClock.Instant, TracedHop)] = []
  /// The phases of the hops that have ended.
  var phases: RequestPhases?
  var hopStarted: SuspendingClock.Instant
  /// The time at which libcurl began to send the hop's request.
  var sentAt: SuspendingClock.Instant?
  /// The time of the status line of the final response.
  var firstByteAt: SuspendingClock.Instant?
  /// If the hops are recorded: the header section that was sent, and the time of the last byte sent.
  var sentHead: [UInt8] = []
  var lastSentAt: SuspendingClock.Instant?

  let started: SuspendingClock.Instant
  var deadline: SuspendingClock.Instant?
  var lastProgress: SuspendingClock.Instant
  /// All bytes of this hop in both directions at `lastProgress`.
  var lastCount: Int64 = 0
  /// The count of bytes from which `minimum_speed` is measured, and its time; `nil` until the hop's request is sent.
  var speedMark: (count: Int64, time: SuspendingClock.Instant)?
  /// The bytes read from a socket, and those of header sections and content, from which the others are counted.
  var framingMark: (descriptor: CInt, read: Int64, counted: Int64)?
  /// Whether the whole body was read for a request whose connection was lost, and that must not be resent.
  var wasReadWhole = false
  /// Whether the whole body was sent, as far as is known at the end of the exchange.
  var wasSentWhole = false
  /// Whether libcurl has finished and the exchange waits only for a digest or a stored file.
  var isSettling = false
  /// The reason why a download is not moved to its destination.
  var refusal: String?
  /// Set while another thread stores the downloaded file.
  var storing: StoreInterruption?
  var isStoring: Bool { storing != nil }
  var storedFile: FileVersion?

  enum Digest {
    case notWanted
    /// Pieces are passed to the hash thread as they are sent.
    case streaming
    /// All pieces have been passed on; the digest will be posted.
    case finishing
    case done([UInt8])
  }

  /// The destination of the response body, which is determined by the status.
  enum Sink {
    case undecided
    case dropped
    case memory(limit: Int, isNeeded: Bool)
    case file(DownloadFile)
  }

  init(
    key: TransferKey, request: TransferRequest, hop: RedirectPolicy.Hop, headers: HeaderList,
    withheld: [OriginGuard.Withheld], isTraced: Bool = false,
    credits: [BandwidthCredit] = [], now: SuspendingClock.Instant
  ) {
    self.key = key
    self.request = request
    fileBody = request.body.fileBody
    self.hop = hop
    self.headers = headers
    self.withheld = withheld
    self.isTraced = isTraced
    self.credits = credits
    started = now
    hopStarted = now
    lastProgress = now
    deadline = request.timeLimit.map { now.advanced(by: $0) }
  }

  /// Whether the body of a response with this status is written to the file of `Destination.file`.
  func storesBody(status: Int) -> Bool {
    guard case .file(_, let statuses) = request.destination, hop.method != "HEAD" else { return false }
    // If several connections receive the document, only its ranges are stored.
    return continued != nil || segments?.document == nil && statuses.contains(status)
  }

  /// The size of the response body, if specified in the header section.
  private var announced: Int64? {
    if case .length(let length) = framing { length } else { nil }
  }

  /// Determines the destination of the response body. Fails with `destination`.
  func sink(_ head: ResponseHead) throws(TransportFailure) -> Sink {
    let status = head.status
    if RedirectPolicy.isFollowed(status: status, method: hop.method) {
      return .memory(limit: 64 << 10, isNeeded: false)
    }
    switch request.destination {
    case .memory(let limit, let isNeeded):
      // An error page is not the required body, and its size must not hide the status.
      return .memory(limit: limit, isNeeded: isNeeded && 200...299 ~= status)
    case .file(let path, _):
      guard storesBody(status: status) else { return .memory(limit: 64 << 10, isNeeded: false) }
      if let document = segments?.document { return .file(document.file) }
      try request.missingFolder?.create()
      if let part = try part(of: path, head) { return .file(part) }
      position = .init()
      return .file(try DownloadFile(path, announced: announced))
    }
  }
}

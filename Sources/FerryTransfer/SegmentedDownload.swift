import FerryPlan

/// A download of one file over several connections, each of which requests one range after another.
///
/// The first request determines whether the server supports ranges. Once its response has stated the size and the version
/// of the document, further exchanges request other ranges of this version. All of them write to the same part. If an
/// exchange fails, the others request its rest; the last one ends the request.
///
/// It belongs to the loop's thread.
final class SegmentedDownload {
  /// The smallest number of bytes for which a response to a longer range is accepted. Smaller ones would require too many
  /// requests.
  static let leastPart: Int64 = 64 << 10
  /// The number of ranges for each connection. With more ranges, connections of different speed end at about the same
  /// time.
  private static let rangesPerConnection: Int64 = 4

  /// The caller's ID of the request.
  let id: UInt64
  let request: TransferRequest
  let started: SuspendingClock.Instant
  private(set) var state = State.undecided
  /// The exchanges in progress, by the ID of their keys.
  private(set) var running: [UInt64: EasyHandle] = [:]
  /// The number of exchanges that may be in progress at once.
  private(set) var limit: Int
  /// The greatest number of exchanges that were in progress at once.
  private(set) var mostRunning = 1
  /// Body bytes received so far.
  var bodyReceived: Int64 = 0
  /// The result that ended all exchanges.
  private(set) var verdict: Result<TransferResponse, TransportFailure>?
  /// Whether a response is of another version of the document. The part is then removed.
  var hasChanged = false
  /// The number of bytes that the part had when the request was started.
  var keptBefore: Int64 = 0

  /// The traffic and the hops of the exchanges that have ended.
  private(set) var traffic = Traffic()
  /// The phases of the first exchange until the end of its first range.
  private(set) var phases: RequestPhases?
  private var hops: [(SuspendingClock.Instant, TracedHop)] = []

  enum State {
    /// The first request has no usable response yet.
    case undecided
    case open(Document)
    /// The document is downloaded over one connection, for this reason.
    case single(String)
  }

  /// The document whose ranges are requested.
  struct Document {
    let file: DownloadFile
    /// The record of the part before the first range was received.
    let record: PartRecord
    /// The request for a range, as the server received it that last sent one.
    var hop: RedirectPolicy.Hop
    /// Ranges that no exchange is requesting.
    var waiting: [Range<Int64>]
    /// Whether there was more than one range.
    let isDivided: Bool
  }

  init(id: UInt64, _ request: TransferRequest, at now: SuspendingClock.Instant) {
    self.id = id
    self.request = request
    limit = max(1, request.connections)
    started = now
  }

  /// The length of the ranges into which missing bytes are divided.
  static func rangeLength(for missing: [Range<Int64>], _ request: TransferRequest) -> Int64 {
    let bytes = missing.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
    return max(request.leastRange, bytes / (Int64(max(1, request.connections)) * rangesPerConnection) + 1)
  }

  var document: Document? { if case .open(let document) = state { document } else { nil } }

  func begin(_ handle: EasyHandle, _ key: TransferKey) {
    running[key.id] = handle
    mostRunning = max(mostRunning, running.count)
  }

  /// Divides the document, whose first range has begun.
  ///
  /// - Parameter first: the range that the first response has.
  func open(_ file: DownloadFile, _ record: PartRecord, _ hop: RedirectPolicy.Hop, first: Range<Int64>) {
    let missing = record.written.missing(of: record.size)
    let length = Self.rangeLength(for: missing, request)
    var waiting: [Range<Int64>] = []
    for gap in missing {
      var rest =
        gap.lowerBound == first.lowerBound ? first.upperBound..<max(first.upperBound, gap.upperBound) : gap
      while !rest.isEmpty {
        let next = rest.prefix(length)
        waiting.append(next)
        rest = next.upperBound..<rest.upperBound
      }
    }
    state = .open(
      Document(file: file, record: record, hop: hop, waiting: waiting, isDivided: !waiting.isEmpty))
  }

  /// The document is requested over one connection.
  func decline(_ reason: String) { state = .single(reason) }

  /// The next range that is to be requested, in place of one that an exchange has received.
  func next() -> Range<Int64>? {
    guard case .open(var document) = state, verdict == nil, !document.waiting.isEmpty else { return nil }
    let range = document.waiting.removeFirst()
    state = .open(document)
    return range
  }

  /// Whether another exchange is to be started.
  var wantsExchange: Bool {
    guard let document, verdict == nil else { return false }
    return !document.waiting.isEmpty && !running.isEmpty && running.count < limit
  }

  /// Further ranges are requested where an exchange has received its range. A redirect may have led to a new target.
  func useHop(of exchange: Exchange) {
    guard case .open(var document) = state, document.hop.url != exchange.hop.url else { return }
    document.hop = exchange.hop
    state = .open(document)
  }

  /// A range whose exchange could not be started waits for one of the others.
  func cannotStart(_ range: Range<Int64>) {
    putBack(range)
    limit = running.count
  }

  /// Lets bytes that have not been received wait for another request.
  func putBack(_ range: Range<Int64>) {
    guard !range.isEmpty, case .open(var document) = state else { return }
    document.waiting.insert(range, at: 0)
    state = .open(document)
  }

  /// Called when an exchange has received a range, and when it ends.
  func keepPhases(of exchange: Exchange) {
    if exchange.key.id == id, phases == nil { phases = exchange.phases }
  }

  /// Takes over an exchange that ends. Returns whether others continue in its place.
  ///
  /// - Parameter rest: the bytes that the exchange was requesting and has not received.
  func end(
    _ exchange: Exchange, _ result: Result<TransferResponse, TransportFailure>?, rest: Range<Int64>?
  ) -> Bool {
    running[exchange.key.id] = nil
    traffic += exchange.traffic
    keepPhases(of: exchange)
    hops += exchange.hops
    if let rest { putBack(rest) }
    guard let result else { return true }
    limit -= 1
    if verdict == nil, hasChanged || isPartLost || Self.endsAll(result) { verdict = result }
    return !running.isEmpty
  }

  /// Whether the received bytes must not be kept.
  var isRefused: Bool {
    guard case .success(let response)? = verdict else { return hasChanged }
    return hasChanged || response.refusal != nil
  }

  /// Whether the part must not receive further ranges, because an exchange could not write to it, or because its bytes
  /// are not trusted.
  private var isPartLost: Bool { document.map { $0.file.record == nil } ?? false }

  /// The hops of all exchanges, in the order in which they were started.
  var allHops: [(SuspendingClock.Instant, TracedHop)] { hops.sorted { $0.0 < $1.0 } }

  /// The number of connections that the download used, or the reason why it used one; `nil` if it was not to use
  /// several, or if the document was too small to be divided.
  var use: SegmentUse? {
    switch state {
    case .undecided: nil
    case .open(let document): document.isDivided ? .several(mostRunning) : nil
    case .single(let reason): .single(reason)
    }
  }

  /// Whether a result concerns all exchanges.
  private static func endsAll(_ result: Result<TransferResponse, TransportFailure>) -> Bool {
    switch result {
    case .success(let response): response.refusal != nil
    case .failure(let failure):
      switch failure.code {
      case .nameResolution, .connect, .handshake, .certificate, .connectionLost, .requestTimeout,
        .malformedResponse, .responseTooLarge, .redirect, .request:
        false
      case .resourceTimeout, .byteLimit, .destination, .cancelled, .sourceMissing,
        .sourceUnreadable, .sourceChanged, .capture, .otherServer:
        true
      }
    }
  }
}

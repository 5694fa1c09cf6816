import FerryManifest

/// A request that the scheduler has decided to send.
package struct Attempt: Hashable, Sendable {
  /// The ID, which increases within a launch.
  package var id: UInt64
  package var ref: ItemRef
  package var step: Step.Kind
  /// The part of a transfer that the request performs; `whole` for other steps.
  package var operation = TransferOperation.whole
  /// The generation of the token in the request: 0 without a token, then 1, 2, … for each response of the
  /// token step.
  package var tokenGeneration: Int
  /// The time at which `timeout_for_resource` expires for the item, node or release to which the attempt
  /// belongs.
  package var deadline: Instant?
  /// The maximum size of the body: the bytes that are reserved, under a hard budget, for a document of
  /// unknown size; `nil` for no limit.
  package var byteLimit: Int64?
  /// The maximum size of the body of a single request: the bytes that are reserved for it under a hard or cautious budget.
  /// A larger body is not sent, and its size is returned (`TransportFailure.refusedBodySize`). `nil` for no limit.
  package var bodyLimit: Int64?
  /// The maximum size of the response bodies that are not stored, over all redirects: a smaller one applies under a hard
  /// budget to a document of known size; `nil` for the usual limit.
  package var unwantedBodyLimit: Int64?
  /// The number of times that a transfer may send its body, including redirects, within a hard budget; `nil` for no
  /// limit.
  package var bodyCopies: Int64?
  /// The number of connections that the attempt may use at once. All of them count for the host's limit until it ends.
  package var connections = 1
  /// Whether a fetch is sent without a validator because a request with one was refused.
  package var isUnconditional = false
}

/// A node, one of its items, or one of its unused upload IDs.
package struct ItemRef: Hashable, Sendable {
  package var node: NodeID
  /// The index in the node's `ItemTable`; `nil` for a node with a single request, and for an upload ID.
  package var item: Int?
  /// The index of an orphan (a dropped upload ID) among the upload's orphans, counted from 0 within the
  /// launch.
  package private(set) var orphan: Int?

  package init(_ node: NodeID, _ item: Int? = nil) {
    self.node = node
    self.item = item
  }

  package static func orphan(_ index: Int, of node: NodeID) -> ItemRef {
    var ref = ItemRef(node)
    ref.orphan = index
    return ref
  }
}

/// The observed result of one attempt. The scheduler interprets it.
///
/// The response or failure is stored outside of the result, which is copied several times.
package struct AttemptResult: Sendable {
  package var id: UInt64
  @Shared package var answer: Answer
  package var traffic: Traffic
  /// The bytes of the file that the last request has sent, without those sent before redirects; `nil` for all.
  package var sentInLastHop: Int64?
  /// Those of them that were sent before the request was resent on another connection.
  package var sentBeforeResend: Int64 = 0
  /// Whether no request was necessary: the server has listed the part with the checksum that the file has.
  package var isListed = false
  package var duration: Duration
  /// The state of the download's part after the attempt; `nil` if there is no part.
  package var part: PartProgress?
  /// The details of the request if it failed; `nil` otherwise.
  package var detail: FailureDetail?
  /// The phases of the request; `nil` if it was not sent.
  package var phases: RequestPhases?
  /// The connections of a download that may use several; `nil` for any other request.
  package var segments: SegmentUse?

  package init(
    id: UInt64, answer: Answer, traffic: Traffic = .init(), duration: Duration = .zero,
    detail: FailureDetail? = nil, phases: RequestPhases? = nil
  ) {
    self.id = id
    self.answer = answer
    self.traffic = traffic
    self.duration = duration
    self.detail = detail
    self.phases = phases
  }

  package enum Answer: Sendable {
    case response(Response)
    case failure(TransportFailure)
  }

  package struct Response: Sendable {
    package var status: Int
    /// Whether the body is not of the expected kind, so that the response does not provide information about
    /// the request.
    package var isUnreadable: Bool
    /// Whether the search for the pattern of `expect` was aborted, so that it is unknown whether the
    /// response matches.
    package var isUndecided = false
    package var retryAfter: Duration?
    /// The time at which the captured values expire, if the response specifies it.
    package var expires: Instant?
    /// The expiry time of the upload that a tus request created or continued, if the response states it.
    package var uploadExpires: Instant?
    /// The condition of a fetch's request.
    package var condition: Condition
    /// Whether the request asked for the rest of a document whose beginning an earlier attempt received.
    package var askedForRest = false
    /// Whether the response is that of another URL, to which the request was redirected.
    package var isRedirected = false
    /// The size of the file in which the document was stored; `nil` if none was stored.
    package var storedSize: Int64?
    /// Whether the response indicates that the URL of the request has expired.
    package var reportsExpiry = false
    /// What the response states about a transfer that sends its file in several requests.
    package var transfer = TransferReading.other
    /// Whether the orphan has further resources at the server that are released next.
    package var isFollowedByRelease = false
    /// The limits that the response states for the transfer; `nil` if it states none.
    package var limit: UploadLimit?

    /// The properties that few responses have; `nil` if this one has none.
    private var rare: Shared<Rare>?

    package init(
      status: Int, mismatch: String? = nil, isUnreadable: Bool = false, missing: TransportFailure? = nil,
      retryAfter: Duration? = nil, expires: Instant? = nil, origins: [Step.Kind: Origin] = [:],
      condition: Condition = .absent
    ) {
      self.status = status
      self.isUnreadable = isUnreadable
      self.retryAfter = retryAfter
      self.expires = expires
      self.condition = condition
      self.mismatch = mismatch
      self.missing = missing
      self.origins = origins
    }
  }

  /// The condition of a fetch's request (RFC 9110, section 13.1).
  package enum Condition: Hashable, Sendable {
    /// The request has no condition, so a 304 is meaningless.
    case absent
    /// A validator from the journal. `isNamed`: whether the validators in a 304 response are compatible with
    /// it.
    case recorded(isNamed: Bool)
    /// Header fields from the manifest.
    case written
  }
}

/// Properties that few responses have. They are stored together outside of the response, which is copied several times
/// and otherwise would retain each of their parts.
extension AttemptResult.Response {
  private struct Rare: Sendable {
    var age: Duration?
    var mismatch: String?
    var missing: TransportFailure?
    var origins: [Step.Kind: Origin] = [:]
    var regained: [ItemRef] = []
    var withheld: String?
    var challengeProblem: String?
    var tokenError: TokenError?
  }

  /// For a probe: the time since the server generated the response, if a cache states it (RFC 9111, section 5.1).
  package var age: Duration? {
    get { rare?.wrappedValue.age }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.age = newValue } }
  }

  /// The reason, other than the status, why the response does not meet `expect`.
  package var mismatch: String? {
    get { rare?.wrappedValue.mismatch }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.mismatch = newValue } }
  }

  /// The failure if the response lacks a capture that later steps need; otherwise `nil`.
  package var missing: TransportFailure? {
    get { rare?.wrappedValue.missing }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.missing = newValue } }
  }

  /// The origins of later steps, if they are known only from the captures.
  package var origins: [Step.Kind: Origin] {
    get { rare?.wrappedValue.origins ?? [:] }
    set { rare.change(isNone: newValue.isEmpty, from: Rare()) { $0.origins = newValue } }
  }

  /// Orphans with the item's upload ID, which the server has now issued again.
  package var regained: [ItemRef] {
    get { rare?.wrappedValue.regained ?? [] }
    set { rare.change(isNone: newValue.isEmpty, from: Rare()) { $0.regained = newValue } }
  }

  /// The sensitive header fields that were not sent to the responding origin, and the setting that would allow them.
  package var withheld: String? {
    get { rare?.wrappedValue.withheld }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.withheld = newValue } }
  }

  /// The reason why ferry did not respond to the server's authentication challenge; `nil` if there is no problem.
  package var challengeProblem: String? {
    get { rare?.wrappedValue.challengeProblem }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.challengeProblem = newValue } }
  }

  /// The error that an OAuth 2.0 server reports in its response to a request for a token; `nil` if there is none.
  package var tokenError: TokenError? {
    get { rare?.wrappedValue.tokenError }
    set { rare.change(isNone: newValue == nil, from: Rare()) { $0.tokenError = newValue } }
  }
}

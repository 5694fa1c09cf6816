import FerryManifest

/// One request that the scheduler wants sent.
package struct Attempt: Hashable, Sendable {
  /// Counts up within a launch.
  package var id: UInt64
  package var ref: ItemRef
  package var step: Step.Kind
  /// Which answer of the token step it carries: 0 for none, then 1, 2, …
  package var tokenGeneration: Int
  /// The end of `timeout_for_resource`, of whatever the attempt is of.
  package var deadline: Instant?
  /// At most so many bytes of body, either way: what a hard budget has left.
  package var byteLimit: Int64?
  /// Of a fetch: without a validator, because a request with one was refused.
  package var isUnconditional = false
}

/// A node, one item of it, or an upload ID that it will not use.
package struct ItemRef: Hashable, Sendable {
  package var node: NodeID
  /// The index in the node's `ItemTable`; `nil` for a node of a single request, and for an upload ID.
  package var item: Int?
  /// Which of the upload's orphans: upload IDs that were dropped, as the launch counts them from 0.
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

/// How one attempt ended: what was seen, not what it means. The scheduler judges.
package struct AttemptResult: Sendable {
  package var id: UInt64
  package var answer: Answer
  package var traffic: Traffic
  package var duration: Duration

  package init(id: UInt64, answer: Answer, traffic: Traffic = .init(), duration: Duration = .zero) {
    self.id = id
    self.answer = answer
    self.traffic = traffic
    self.duration = duration
  }

  package enum Answer: Sendable {
    case response(Response)
    case failure(TransportFailure)
  }

  package struct Response: Sendable {
    package var status: Int
    /// What of `expect`, besides the status, the answer does not meet.
    package var mismatch: String?
    /// Its body is not of the kind that is expected, so that it tells nothing of what was asked.
    package var isUnreadable: Bool
    /// Whether the search for the pattern of `expect` was given up, so that the response may meet it or not.
    package var isUndecided = false
    /// A capture that later steps need and the answer does not have.
    package var missing: TransportFailure?
    package var retryAfter: Duration?
    /// When what was captured ends being valid, where the answer tells.
    package var expires: Instant?
    /// Where later steps go, where only the captures tell.
    package var origins: [Step.Kind: Origin]
    /// Of a fetch: the condition that its request carried.
    package var condition: Condition
    /// Of an allocation: orphans of its upload that stand for the same ID, which the server has given out again.
    package var regained: [Int] = []
    /// Which sensitive header fields were not sent to the origin that responded, and what would allow them.
    package var withheld: String?

    package init(
      status: Int, mismatch: String? = nil, isUnreadable: Bool = false, missing: TransportFailure? = nil,
      retryAfter: Duration? = nil, expires: Instant? = nil, origins: [Step.Kind: Origin] = [:],
      condition: Condition = .absent
    ) {
      self.status = status
      self.mismatch = mismatch
      self.isUnreadable = isUnreadable
      self.missing = missing
      self.retryAfter = retryAfter
      self.expires = expires
      self.origins = origins
      self.condition = condition
    }
  }

  /// The condition of a fetch's request (RFC 9110, section 13.1).
  package enum Condition: Hashable, Sendable {
    /// None: a 304 means nothing.
    case absent
    /// A validator from the journal; whether a 304 may be for it, going by the validators that the 304 names.
    case recorded(isNamed: Bool)
    /// Header fields of the manifest.
    case written
  }
}

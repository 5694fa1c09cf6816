import FerryManifest

/// The reason why an upload ID will not be used. The raw values are persisted and must never be reused.
package enum OrphanReason: UInt8, Codable, Sendable, CaseIterable {
  /// The ID's item was canceled.
  case cancelled = 1
  /// The ID's item failed.
  case failed = 2
  /// `valid_for`, or an expiry set by the server, passed before the transfer.
  case expired = 3
  /// A transfer with the ID was interrupted and cannot be resumed, so the file started over with a new ID.
  case startedOver = 4
  /// The file has changed, or is sent again in a different round.
  case requeued = 5
  /// The manifest was edited, and its steps cannot use the captured values.
  case edited = 6
  /// `ferry reset` dropped the ID's item.
  case reset = 7
  /// `ferry resolve … retry`: the transfer was not executed, and the file starts over.
  case retried = 8
  /// Captures of a token or a request lead to another server, and the file starts over there.
  case otherServer = 9

  /// The word used in documents.
  package var word: String {
    switch self {
    case .cancelled: "cancelled"
    case .failed: "failed"
    case .expired: "expired"
    case .startedOver: "started_over"
    case .requeued: "requeued"
    case .edited: "edited"
    case .reset: "reset"
    case .retried: "retried"
    case .otherServer: "other_server"
    }
  }
}

/// The reason and state of an orphaned upload ID.
package struct Orphaning: Hashable, Sendable {
  package var reason: OrphanReason
  /// Whether the data under the ID may count as delivered: for example, because the commit may have been
  /// executed. Such an ID is never released.
  package var isInDoubt: Bool

  package init(_ reason: OrphanReason, isInDoubt: Bool) {
    self.reason = reason
    self.isInDoubt = isInDoubt
  }
}

/// The state from which the data under an item's upload ID may count as delivered, according to the journal
/// of a killed launch. The raw values are persisted and must never be reused.
package enum CountingPoint: UInt8, Sendable {
  /// The data counts as soon as the item has an upload ID, because there is no commit.
  case allocated = 1
  /// As `allocated`, because an item of an earlier version of the manifest, which had no commit, still has an upload ID. The
  /// present version has a commit.
  case allocatedBeforeCommit = 2
  /// The data counts once the commit's intent has been written.
  case intended = 3
}

extension CountingPoint {
  /// Whether the data of an item that an earlier launch left in this state may count as delivered.
  func mayCount(state: ItemState, intent: ItemStep?) -> Bool {
    if intent != nil { return true }
    switch state {
    case .allocated, .transferred: return self != .intended
    case .queued, .done, .failed, .ambiguous, .cancelled: return false
    }
  }
}

extension UploadWork {
  package var countingPoint: CountingPoint { commit == nil ? .allocated : .intended }

  /// Whether the server's data of an item begun by an earlier launch may count as delivered.
  ///
  /// - Parameter recorded: the counting point of the earlier launch, whose manifest may not have had a
  ///   commit.
  package func mayCount(state: ItemState, intent: ItemStep?, recorded: CountingPoint? = nil) -> Bool {
    countingPoint(recorded: recorded).mayCount(state: state, intent: intent)
  }

  /// The counting point of items that an earlier launch has begun.
  package func countingPoint(recorded: CountingPoint?) -> CountingPoint {
    switch recorded {
    case .allocated, .allocatedBeforeCommit: .allocated
    case .intended, nil: countingPoint
    }
  }
}

import FerryManifest

/// Why an upload ID will not be used. Raw values are written down; never reuse one.
package enum OrphanReason: UInt8, Codable, Sendable, CaseIterable {
  /// Its item was cancelled.
  case cancelled = 1
  /// Its item failed.
  case failed = 2
  /// `valid_for`, or an end that the server named, passed before its transfer.
  case expired = 3
  /// A transfer under it was cut off that cannot be gone on with: the file started over with another.
  case startedOver = 4
  /// The file is another now, or is sent anew in another round.
  case requeued = 5
  /// The manifest was edited: its steps cannot use what was captured.
  case edited = 6
  /// `ferry reset` dropped its item.
  case reset = 7
  /// `ferry resolve … retry`: its transfer was not carried out, and the file starts over.
  case retried = 8

  /// A word for documents.
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
    }
  }
}

/// How an upload ID became one that will not be used.
package struct Orphaning: Hashable, Sendable {
  package var reason: OrphanReason
  /// What the server has under it may count: the commit may have been carried out. It is never released.
  package var isInDoubt: Bool

  package init(_ reason: OrphanReason, isInDoubt: Bool) {
    self.reason = reason
    self.isInDoubt = isInDoubt
  }
}

/// From where on what the server has under an item's upload ID may count, as far as the journal of a launch that died
/// tells. Raw values are written down; never reuse one.
package enum CountingPoint: UInt8, Sendable {
  /// As soon as it has one: there is no commit.
  case allocated = 1
  /// Once the commit's intent is written.
  case intended = 3
}

extension UploadWork {
  package var countingPoint: CountingPoint { commit == nil ? .allocated : .intended }

  /// Whether what the server has of an item that an earlier launch had begun may count.
  package func mayCount(state: ItemState, intent: ItemStep?) -> Bool {
    if intent != nil { return true }
    switch state {
    case .allocated, .transferred: return countingPoint == .allocated
    case .queued, .done, .failed, .ambiguous, .cancelled: return false
    }
  }
}

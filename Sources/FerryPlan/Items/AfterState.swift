/// The treatment of a delivered file. The raw values are persisted and must never be reused.
package enum AfterState: UInt8, CaseIterable, Codable, Sendable {
  /// The file still has to be deleted or moved.
  case owed = 1
  case deleted = 2
  case moved = 3
  /// The file remained in place because it is no longer the file that was sent.
  case changed = 4
  /// No action was performed because the file no longer existed.
  case gone = 5
  /// No action is needed because the manifest now specifies `keep`.
  case kept = 6
}

extension AfterState {
  /// Whether a missing file is expected in this state, because ferry may have deleted or moved it. This
  /// includes `owed` and `gone`, because a killed run may have performed the action without recording it.
  package var mayHaveTakenFile: Bool {
    switch self {
    case .owed, .deleted, .moved, .gone: true
    case .changed, .kept: false
    }
  }

  /// The word used in documents.
  package var word: String {
    switch self {
    case .owed: "owed"
    case .deleted: "deleted"
    case .moved: "moved"
    case .changed: "changed"
    case .gone: "gone"
    case .kept: "kept"
    }
  }
}

/// What happens to a delivered file. Raw values are persisted; never reuse one.
package enum AfterState: UInt8, Codable, Sendable {
  /// It is to be deleted or moved.
  case owed = 1
  case deleted = 2
  case moved = 3
  /// Nothing was done, because it is no longer the file that was sent.
  case changed = 4
  /// Nothing was done, because the file no longer existed.
  case gone = 5
  /// Nothing is to be done, because the manifest now has `keep`.
  case kept = 6
}

extension AfterState {
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

/// What becomes of a delivered file. Raw values are written down; never reuse one.
package enum AfterState: UInt8, Codable, Sendable {
  /// It is to be deleted or moved.
  case owed = 1
  case deleted = 2
  case moved = 3
  /// Nothing was done: it is not the file that was sent any more.
  case changed = 4
  /// Nothing was to be done: it was gone.
  case gone = 5
  /// Nothing is to be done: the manifest says `keep` by now.
  case kept = 6
}

extension AfterState {
  /// A word for documents.
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

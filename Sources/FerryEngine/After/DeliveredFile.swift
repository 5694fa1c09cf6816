import FerryJournal
import FerryPlan

/// A file that was delivered, as it was then, and is now to be deleted or moved.
struct DeliveredFile: Sendable {
  /// The journal's row of its item.
  var row: Int64
  /// Relative to the upload's root.
  var path: [UInt8]
  var size: Int64
  /// Nanoseconds since 1970.
  var modified: Int64
  /// Where it is known.
  var inode: UInt64?
  /// The upload's root as it was sent; likewise.
  var root: FolderIdentity?
  /// A run has tried in vain.
  var isTried = false
}

extension DeliveredFile {
  init(_ item: borrowing ItemRow) {
    self.init(
      row: item.id, path: item.path, size: item.size, modified: item.modified, inode: item.inode,
      root: item.root, isTried: item.hasTriedAfter)
  }
}

/// What became of it.
struct AfterResult: Sendable {
  var state: AfterState
  /// Why it is not what the manifest asks for; with `.owed` it is tried again by the next run.
  var problem: RecordedFailure?

  static let deleted = AfterResult(state: .deleted)
  static let moved = AfterResult(state: .moved)

  static func left(_ code: String, _ message: String) -> AfterResult {
    AfterResult(state: .owed, problem: RecordedFailure(code: code, message: message))
  }
}

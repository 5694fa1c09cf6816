import FerryJournal
import FerryPlan

/// A delivered file that is to be deleted or moved, with its attributes at delivery.
struct DeliveredFile: Sendable {
  /// The row of the file's item in the journal.
  var row: Int64
  /// The path, relative to the upload's root.
  var path: [UInt8]
  var size: Int64
  /// The modification time in nanoseconds since 1970.
  var modified: Int64
  /// The inode of the file or, if its name is a symbolic link, of the link, as returned by `stat.inode(beneath:)`; `nil` if
  /// unknown.
  var inode: UInt64?
  /// The upload's root at the time the file was sent; `nil` if unknown.
  var root: FolderIdentity?
  /// Whether a run has already tried and failed to delete or move the file.
  var isTried = false
}

extension DeliveredFile {
  init(_ item: borrowing ItemRow) {
    self.init(
      row: item.id, path: item.path, size: item.size, modified: item.modified, inode: item.inode,
      root: item.root, isTried: item.hasTriedAfter)
  }
}

/// The result of an `after` action.
struct AfterResult: Sendable {
  var state: AfterState
  /// The reason why the requested action was not performed. If `state` is `.owed`, the next run retries the action.
  var problem: RecordedFailure?

  static let deleted = AfterResult(state: .deleted)
  static let moved = AfterResult(state: .moved)

  static func left(_ code: FailureCode, _ message: String) -> AfterResult {
    AfterResult(state: .owed, problem: RecordedFailure(code: code, message: message))
  }
}

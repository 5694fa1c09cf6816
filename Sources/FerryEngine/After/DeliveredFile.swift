import FerryJournal
import FerryPlan

/// A file as it was when it was delivered; it is now to be deleted or moved.
struct DeliveredFile: Sendable {
  /// The row of the file's item in the journal.
  var row: Int64
  /// Relative to the upload's root.
  var path: [UInt8]
  var size: Int64
  /// Nanoseconds since 1970.
  var modified: Int64
  /// As `stat.inode(beneath:)` returns it; `nil` if unknown.
  var inode: UInt64?
  /// The upload's root when the file was sent; `nil` if unknown.
  var root: FolderIdentity?
  /// Whether a run has already tried and failed.
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
  /// Why the result is not what the manifest asks for. With `.owed`, the next run tries again.
  var problem: RecordedFailure?

  static let deleted = AfterResult(state: .deleted)
  static let moved = AfterResult(state: .moved)

  static func left(_ code: FailureCode, _ message: String) -> AfterResult {
    AfterResult(state: .owed, problem: RecordedFailure(code: code, message: message))
  }
}

import FerryJournal
import FerryManifest
import FerryPlan

/// Finds the files of an upload that another upload, which the first one needs, selects but has not sent. If the first
/// upload sent and then deleted or moved such a file, the other one would never send it.
///
/// The list of the first upload may be newer than the files of the other one.
struct UnsentElsewhere {
  private let other: NodeID
  private let row: NodeRow?
  private let journal: SessionJournal?
  private let deliver: Upload.Deliver
  private let selects: ([UInt8]) -> Bool
  /// The real paths of both roots.
  private let root: [UInt8]
  private let otherRoot: [UInt8]
  /// The real path of the folder to which the other upload moves files. Its files are not listed.
  private let hidden: [UInt8]?
  /// The real paths of folders.
  private var realFolders: [[UInt8]: [UInt8]] = [:]

  /// - Parameters:
  ///   - lister: that of the upload whose files are checked.
  ///   - otherLister: that of the other upload.
  /// - Throws: `ListingFailure` if a root cannot be opened.
  init(
    _ lister: FileLister, other: NodeID, _ work: UploadWork, _ otherLister: FileLister, row: NodeRow?,
    journal: SessionJournal?
  ) throws {
    (root, otherRoot) = (try lister.folder().real, try otherLister.folder().real)
    (self.other, self.row, self.journal, deliver) = (other, row, journal, work.deliver)
    hidden = otherLister.hidden.flatMap { [otherRoot] in FileLister.real(Self.joined(otherRoot, $0)) }
    switch (lister.source, otherLister.source) {
    case (_, .globs(let include, let exclude)):
      let (include, exclude) = (try GlobMatcher(include), try GlobMatcher(exclude))
      selects = { include.matches($0) && !exclude.matches($0) }
    case (.list(let list, _), .list(let otherList, _)) where list == otherList && root == otherRoot:
      selects = { _ in true }
    case (_, .list("-", _)), (_, .items): selects = { _ in false }
    case (_, .list):
      // If the list can no longer be read, it may contain every file.
      let paths = (try? otherLister.list(journal, row).files).map { files in
        Set((0..<files.count).map { Array(files.path($0)) })
      }
      selects = { paths?.contains($0) ?? true }
    }
  }

  /// Returns the files without those that the other upload has not sent in the same version.
  mutating func sent(_ files: FileColumns, _ scheduler: Scheduler) throws(JournalError) -> FileColumns {
    var sent = FileColumns()
    for file in 0..<files.count where try isSent(file, of: files, scheduler) { sent.append(file, of: files) }
    return sent
  }

  private mutating func isSent(
    _ file: Int, of files: FileColumns, _ scheduler: Scheduler
  ) throws(JournalError) -> Bool {
    var isSelected = false
    for path in otherPaths(of: Array(files.path(file))) {
      var named = FileColumns()
      named.append(path: path, size: files.sizes[file], modified: files.modified[file])
      if try isDelivered(named, scheduler) { return true }
      if selects(path) { isSelected = true }
    }
    return !isSelected
  }

  /// - Parameter named: one file.
  private func isDelivered(_ named: FileColumns, _ scheduler: Scheduler) throws(JournalError) -> Bool {
    if let isDelivered = scheduler.hasDelivered(0, of: named, by: other) { return isDelivered }
    guard let row, let journal, row.id != 0 else { return false }
    var isDelivered = false
    try journal.meet(node: row.id, path: Array(named.path(0))) { item throws(JournalError) in
      // With `deliver: once`, a file that was delivered is not sent again if it changes.
      let isSame = deliver == .once || item.size == named.sizes[0] && item.modified == named.modified[0]
      isDelivered = try item.state == .done && isSame
    }
    return isDelivered
  }

  /// The paths of a file relative to the root of the other upload, as it is named and without links in its folders. Paths
  /// that the other upload never lists are omitted.
  private mutating func otherPaths(of path: [UInt8]) -> [[UInt8]] {
    let named = Self.joined(root, path)
    var paths = [named]
    let slash = named.lastIndex(of: 0x2F) ?? 0
    let folder = Array(named[..<slash])
    if realFolders[folder] == nil { realFolders[folder] = FileLister.real(folder.isEmpty ? [0x2F] : folder) }
    if let real = realFolders[folder] {
      let real = Self.joined(real, Array(named[(slash + 1)...]))
      if real != named { paths.append(real) }
    }
    return paths.compactMap { path in
      guard FileLister.isInside(path, otherRoot), path != otherRoot else { return nil }
      if let hidden, FileLister.isInside(path, hidden) { return nil }
      return Array(path[(otherRoot == [0x2F] ? 1 : otherRoot.count + 1)...])
    }
  }

  private static func joined(_ folder: [UInt8], _ path: [UInt8]) -> [UInt8] {
    (folder == [0x2F] ? folder : folder + [0x2F]) + path
  }
}

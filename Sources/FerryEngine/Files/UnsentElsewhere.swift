import FerryJournal
import FerryManifest
import FerryPlan

/// Finds the files of an upload that another upload, which the first one needs, lists but has not sent. If the first
/// upload sent and then deleted or moved such a file, the other one would never send it.
///
/// The list of the first upload may be newer than the files of the other one, so the other one's files are listed again.
/// Files are compared by their identities, because both uploads may name a file differently: relative to different roots,
/// through links, or as hard links.
struct UnsentElsewhere {
  private let other: NodeID
  private let row: NodeRow?
  private let journal: SessionJournal?
  private let deliver: Upload.Deliver
  /// The files that the other upload lists now; `nil` if they cannot be listed.
  private let listed: FileColumns?
  /// The positions in `listed` of the files that the first upload may remove, by their identities.
  private var positions: [UInt64: [Int]] = [:]

  /// - Parameters:
  ///   - files: the files of the upload that removes them.
  ///   - lister: that of the other upload.
  ///   - row: that of the other upload.
  init(
    _ files: FileColumns, other: NodeID, _ work: UploadWork, _ lister: FileLister, row: NodeRow?,
    journal: SessionJournal?, _ scheduler: Scheduler
  ) {
    (self.other, self.row, self.journal, deliver) = (other, row, journal, work.deliver)
    let wanted = Set(files.identities.map(Self.ofFile))
    listed = Self.files(of: other, lister, row, journal, scheduler)
    guard let listed else { return }
    for (index, identity) in listed.identities.enumerated() where wanted.contains(Self.ofFile(identity)) {
      positions[Self.ofFile(identity), default: []].append(index)
    }
  }

  /// Returns the files without those that the other upload has not sent in the same version.
  func sent(_ files: FileColumns, _ scheduler: Scheduler) throws(JournalError) -> FileColumns {
    var sent = FileColumns()
    guard let listed else { return sent }
    for file in 0..<files.count {
      var isSent = true
      for position in positions[Self.ofFile(files.identities[file])] ?? [] where isSent {
        var named = FileColumns()
        named.append(
          path: listed.path(position), size: files.sizes[file], modified: files.modified[file])
        isSent = try isDelivered(named, scheduler)
      }
      if isSent { sent.append(file, of: files) }
    }
    return sent
  }

  /// - Parameter named: one file, as the other upload names it.
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

  /// The files that an upload lists now; `nil` if they cannot be listed.
  private static func files(
    of node: NodeID, _ lister: FileLister, _ row: NodeRow?, _ journal: SessionJournal?, _ scheduler: Scheduler
  ) -> FileColumns? {
    switch lister.source {
    case .list("-", _), .items:
      // Standard input cannot be read again.
      let paths = scheduler.withItems(of: node) { items in
        (0..<items.files.count).map { Array(items.files.path($0)) }
      }
      return try? lister.lookUp(paths ?? []).files
    case .globs, .list: return try? lister.list(journal, row).files
    }
  }

  /// The identity of a file whose listed name may be a link to it (`stat.identity(throughLink:)`).
  private static func ofFile(_ identity: UInt64) -> UInt64 { min(identity, ~identity) }
}

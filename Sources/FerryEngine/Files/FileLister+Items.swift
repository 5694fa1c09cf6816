import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer

extension FileLister {
  /// Reads the list of a download batch, and keeps the values that its requests need.
  func itemListing(_ items: DownloadItems, beneath root: SourceRoot) throws(ListingFailure) -> Listing {
    var bytes: [UInt8]?
    if case .file(let name, let pointer) = items.source {
      bytes =
        try pointer == nil ? lines(of: name) : contents(of: name, limit: Self.largestFetchedList)
    }
    var reader = ItemListReader(
      items, fields: requestFields, stateFolders: stateFolder?.paths(below: root.real) ?? [],
      reserved: reserved, filter: filter, isStopped: isStopped)
    let (listing, contents) = try reader.read(bytes)
    listed?.replace(with: contents)
    return listing
  }
}

extension UploadWork {
  /// Which of a download batch's files have to be downloaded again; `nil` for an upload. Empty if the run was stopped.
  func missing(
    of files: FileColumns, beneath root: SourceRoot?, _ stopCheck: StopCheck
  ) -> [ContentComparison]? {
    guard download != nil else { return nil }
    return root?.missing(of: files, stopCheck) ?? []
  }
}

extension SourceRoot {
  /// Compares each file of a download batch with the list: `.other` means that the file has to be downloaded again,
  /// because it does not exist or does not have the size that the list states. A link, or the file of another user in a
  /// world-writable folder, does not count, so the download reports it.
  fileprivate func missing(of files: FileColumns, _ stopCheck: StopCheck) -> [ContentComparison] {
    var lookup = DocumentLookup(beneath: self)
    var comparisons: [ContentComparison] = []
    comparisons.reserveCapacity(files.count)
    for file in 0..<files.count {
      if stopCheck.isStopped(atStep: file) { return [] }
      let isThere =
        lookup.status(of: files.path(file)).map { status in
          files.documentSize(file).map { $0 == Int64(status.st_size) } ?? true
        } ?? false
      comparisons.append(isThere ? .notAsked : .other)
    }
    return comparisons
  }
}

import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

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
  /// Which of a download batch's files have to be downloaded again; `nil` for an upload.
  func missing(of files: FileColumns, beneath root: SourceRoot?) -> [ContentComparison]? {
    guard download != nil else { return nil }
    return root?.missing(of: files) ?? []
  }
}

extension SourceRoot {
  /// Compares each file of a download batch with the list: `.other` means that the file has to be downloaded again,
  /// because it does not exist or does not have the size that the list states.
  fileprivate func missing(of files: FileColumns) -> [ContentComparison] {
    let folder = openFolder()
    defer { if folder >= 0 { close(folder) } }
    return (0..<files.count).map { file in
      var status = stat()
      let path = FileLister.terminated(Array(files.path(file)))
      let isThere =
        folder >= 0 && fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.isRegular
        && (files.documentSize(file).map { $0 == Int64(status.st_size) } ?? true)
      return isThere ? .notAsked : .other
    }
  }
}

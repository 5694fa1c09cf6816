import FerryPlan
import FerryTransfer
import Foundation

/// The file in which the document of a response is stored.
struct DocumentTarget {
  /// The path relative to the manifest's folder, as it is shown.
  let name: String
  let path: String
  let document: DocumentOptions
  /// The size that the document must have; `nil` for any size.
  var size: Int64?
  private let base: String
  /// Whether the folders of `name` may be links. The author of the manifest names the folders of a fetch, but a list
  /// may name the folders of an item.
  private let followsLinks: Bool

  init(_ name: String, in base: String, _ document: DocumentOptions, followsLinks: Bool) {
    (self.name, self.base, self.document, self.followsLinks) = (name, base, document, followsLinks)
    path = base + "/" + name
  }

  /// Creates the missing folders. Throws `destination` if the folder cannot be used.
  func createFolder() throws(TransportFailure) {
    do throws(FolderPath.Failure) {
      guard followsLinks else {
        let folder = SplitPath(name).folder
        return try FolderPath.createFolders(Array(folder.utf8), beneath: Array(base.utf8))
      }
      close(
        try FolderPath.descriptor(
          of: Array(SplitPath(path).folder.utf8), trusting: .ownEntries, creating: true))
    } catch {
      throw TransportFailure(
        .destination, "cannot use the folder of \(name): \(error.reason)", mayHaveReachedServer: false)
    }
  }
}

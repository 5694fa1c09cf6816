import FerryPlan
import FerryTransfer

/// The file in which the document of a response is stored.
struct DocumentTarget {
  /// The path relative to the manifest's folder, as it is shown.
  let name: String
  let path: String
  let document: DocumentOptions
  /// The size that the document must have; `nil` for any size.
  var size: Int64?
  let folder: DestinationFolder

  init(_ name: String, in base: String, _ document: DocumentOptions, links: DestinationFolder.Links) {
    self.name = name
    self.document = document
    path = base + "/" + name
    folder = DestinationFolder(of: name, in: base, links: links)
  }
}

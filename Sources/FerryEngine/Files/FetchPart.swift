import FerryPlan
import FerryTransfer

/// The partial file that an interrupted download of a document leaves next to the document's destination.
struct FetchPart {
  /// The path of the destination.
  let destination: String
  /// Identifies the session, the manifest and the node to which the part belongs.
  let owner: String

  init(of work: FetchWork, in folder: String, session: String, manifest: String, node: String) {
    destination = folder + "/" + work.saveTo
    owner = Self.owner(session: session, manifest: manifest, node: node)
  }

  /// The part of an item of a download batch.
  ///
  /// - Parameter path: the item's path, relative to the manifest's folder.
  init(of path: some Collection<UInt8>, in folder: String, owner: String) {
    destination = folder + "/" + String(decoding: path, as: UTF8.self)
    self.owner = owner
  }

  /// - Parameter session: the session's identifier.
  static func owner(session: String, manifest: String, node: String) -> String {
    "\(session)\n\(manifest)\n\(node)"
  }

  /// Returns whether there was a part.
  func remove() -> Bool { KeptPart.remove(of: destination, owner: owner) }
}

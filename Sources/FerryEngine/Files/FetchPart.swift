import FerryPlan
import FerryTransfer

/// The part of a fetch that an interrupted download leaves beside its destination.
struct FetchPart {
  /// The path of the destination.
  let destination: String
  /// Identifies the session, the manifest and the fetch to which the part belongs.
  let owner: String

  /// - Parameter session: the session's identifier.
  init(of work: FetchWork, in folder: String, session: String, manifest: String, node: String) {
    destination = folder + "/" + work.saveTo
    owner = "\(session)\n\(manifest)\n\(node)"
  }

  /// Returns whether there was a part.
  func remove() -> Bool { KeptPart.remove(of: destination, owner: owner) }
}

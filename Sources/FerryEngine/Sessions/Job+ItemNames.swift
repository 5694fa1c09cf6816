import FerryJournal
import FerryPlan
import Foundation

/// Resolves the names by which users refer to items.
extension Job {
  /// The paths, relative to a node's root, that a name may refer to, most likely first.
  ///
  /// Each position represents one form of name. The forms are the same for every node. An element is `nil` if the name
  /// does not have the form of the element's position.
  func candidates(_ item: String, _ node: Node, home: String?) throws -> [[UInt8]?] {
    guard case .upload(let work) = node.work else { return [] }
    let lister = try FileLister(work.files, after: work.after, baseFolder: folder, home: home)
    var candidates = Self.relativeCandidates(item, node: node.name)
    let file = AbsolutePath.text(of: item)
    for root in [lister.root, FileLister.real(lister.root) ?? lister.root]
    where FileLister.isInside(Array(file.utf8), root) && file.utf8.count > root.count {
      candidates.append(Array(file.utf8.dropFirst(root == [0x2F] ? 1 : root.count + 1)))
    }
    return candidates
  }

  /// The candidates that do not need a folder: `NODE/PATH`, or the path itself. Each is first read in the
  /// form in which ferry quotes names, then literally.
  static func relativeCandidates(_ item: String, node: String) -> [[UInt8]?] {
    // Compare bytes: a name may begin with a mark that combines with the slash.
    let item = Array(item.utf8)
    let ofNode = item.starts(with: (node + "/").utf8) ? Array(item.dropFirst(node.utf8.count + 1)) : nil
    let path = item.first == UInt8(ascii: "/") ? nil : item
    return [ofNode.flatMap(DisplayPath.read), ofNode, path.flatMap(DisplayPath.read), path]
  }
}

import FerryJournal
import FerryPlan
import Foundation

/// How a person names items.
extension Job {
  /// The paths relative to a node's root that the words may mean, the likeliest first; `nil` where they have not the form
  /// that stands there, so that the same place means the same form of every node.
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

  /// Those that need no folder: `NODE/PATH`, or the path itself; either as ferry shows it in quotes, or as it is.
  static func relativeCandidates(_ item: String, node: String) -> [[UInt8]?] {
    // By bytes: a name may begin with a mark that combines with the slash.
    let item = Array(item.utf8)
    let ofNode = item.starts(with: (node + "/").utf8) ? Array(item.dropFirst(node.utf8.count + 1)) : nil
    let path = item.first == UInt8(ascii: "/") ? nil : item
    return [ofNode.flatMap(DisplayPath.read), ofNode, path.flatMap(DisplayPath.read), path]
  }
}

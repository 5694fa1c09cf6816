import FerryPlan
import Foundation

/// How a person names items.
extension Job {
  /// The paths relative to a node's root that the words may mean, the likeliest first.
  func candidates(_ item: String, _ node: Node, home: String?) throws -> [[UInt8]] {
    guard case .upload(let work) = node.work else { return [] }
    let lister = try FileLister(work.files, after: work.after, baseFolder: folder, home: home)
    var candidates = Self.relativeCandidates(item, node: node.name)
    let file = URL(fileURLWithPath: item).standardizedFileURL.path
    for root in [lister.root, FileLister.real(lister.root) ?? lister.root]
    where FileLister.isInside(Array(file.utf8), root) && file.utf8.count > root.count {
      candidates.append(Array(file.utf8.dropFirst(root == [0x2F] ? 1 : root.count + 1)))
    }
    return candidates
  }

  /// Those that need no folder: `NODE/PATH`, or the path itself; either as it is, or as ferry shows it in quotes.
  static func relativeCandidates(_ item: String, node: String) -> [[UInt8]] {
    var candidates: [[UInt8]] = []
    if item.hasPrefix(node + "/") { candidates.append(Array(item.utf8.dropFirst(node.utf8.count + 1))) }
    if !item.hasPrefix("/") { candidates.append(Array(item.utf8)) }
    return candidates + candidates.compactMap(NameText.read)
  }
}

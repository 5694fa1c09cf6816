import FerryPlan

/// The documents and folders that the list of a download batch cannot replace, because other nodes of the run read or store
/// them. All paths are in the form that `ItemListReader.key` returns.
struct ReservedPaths {
  /// The folder to which the paths of items are relative, with a trailing slash; empty if all paths are relative to it.
  var base = ""
  /// The lists of uploads and download batches, the other files that the run reads, the documents of fetches and of items in
  /// manifests, and the links on the way to them.
  private(set) var files: Set<String> = []
  /// The folders into which fetches and download batches store documents, and all folders above them.
  private(set) var folders: Set<String> = []
  /// Paths at which no file may be stored, but below which others may.
  private var missing: Set<String> = []
  private var longestFile = 0

  init(files: Set<String> = [], folders: Set<String> = []) {
    for file in files { insert(file: file) }
    for folder in folders { insert(folder: folder) }
  }

  /// Adds a file, and the folders above it.
  mutating func insert(file: String) {
    guard files.insert(file).inserted else { return }
    longestFile = max(longestFile, file.utf8.count)
    insert(folder: SplitPath(file).folder)
  }

  /// Adds a folder, and the folders above it.
  mutating func insert(folder: String) {
    var folder = folder
    while !folder.isEmpty, folders.insert(folder).inserted { folder = SplitPath(folder).folder }
  }

  /// Adds the file to which a path leads, and the links that it passes: whoever can replace a link determines the file.
  mutating func insert(_ path: ResolvedPath) {
    for file in [path.target] + path.links { insert(file: file) }
  }

  /// Adds the path of a file that does not exist, and that can also become a folder.
  mutating func insert(missing path: ResolvedPath) {
    missing.insert(path.target)
    for link in path.links { insert(file: link) }
  }

  /// The reason why a list cannot name a file; `nil` if it can.
  ///
  /// - Parameter key: relative to `base`.
  func refusal(of key: String) -> String? {
    let path = base + key
    if missing.contains(path) || replacesFile(path) {
      return
        "its file is one that the run reads, the document of a fetch or of an item in a manifest, or a link to one"
    }
    guard folders.contains(path) else { return nil }
    return "its file is a folder into which a fetch or a download batch stores documents"
  }

  /// Whether the file, or a folder in its path, is one of the files.
  private func replacesFile(_ path: String) -> Bool {
    if files.contains(path) { return true }
    // A path can have many folders, of which only the first ones can be in the set. No folder above `base` is a file.
    return path.utf8.indices.prefix(longestFile + 1).dropFirst(base.utf8.count).contains {
      path.utf8[$0] == UInt8(ascii: "/") && files.contains(String(path[..<$0]))
    }
  }
}

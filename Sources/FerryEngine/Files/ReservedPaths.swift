/// The documents and folders that the list of a download batch cannot replace, because other nodes of the run read or store
/// them. All paths are in the form that `ItemListReader.key` returns.
struct ReservedPaths {
  /// The documents of fetches, and the lists of uploads and download batches.
  private let files: Set<String>
  /// The folders into which fetches and download batches store documents, and all folders above them.
  private let folders: Set<String>
  private let longestFile: Int

  init(files: Set<String> = [], folders: Set<String> = []) {
    (self.files, self.folders) = (files, folders)
    longestFile = files.map(\.utf8.count).max() ?? 0
  }

  /// The reason why a list cannot name a file; `nil` if it can.
  func refusal(of key: String) -> String? {
    if replacesFile(key) { return "its file is the document of a fetch, or a list of files" }
    guard folders.contains(key) else { return nil }
    return "its file is a folder into which a fetch or a download batch stores documents"
  }

  /// Whether the file, or a folder in its path, is one of the files.
  private func replacesFile(_ key: String) -> Bool {
    if files.contains(key) { return true }
    // A path can have many folders, of which only the first ones can be in the set.
    return key.utf8.indices.prefix(longestFile + 1).contains {
      key.utf8[$0] == UInt8(ascii: "/") && files.contains(String(key[..<$0]))
    }
  }
}

import FerryPlan
import Foundation

/// The number of shards into which a manifest is divided in a state folder.
///
/// It is recorded before the state folder of the first shard is created. Otherwise, processes with different numbers of
/// shards that start at the same time, perhaps on several machines, would not see each other's folders, and would send
/// the same files.
extension StateDirectory {
  private static let header = "ferry shards 1"
  static let countName = "count"

  private func divisionFile(of manifest: String) throws(JournalError) -> String {
    try shards(of: manifest) + "/" + Self.countName
  }

  /// Whether an open folder is the state folder of a part, or contains those of a manifest, whatever path leads to it.
  package static func isOfShards(_ folder: Int32) -> Bool {
    ShardFile.exists(markerName, header: markerHeader, in: folder)
      || ShardFile.exists(countName, header: header, in: folder)
  }

  /// Whether a folder contains the state folders of a manifest's parts, whatever its path is.
  static func hasCount(in folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return ShardFile.exists(countName, header: header, in: descriptor)
  }

  /// The number of shards of a manifest; `nil` if it is not divided here.
  package func shardCount(of manifest: String) throws(JournalError) -> Int? {
    let file = try divisionFile(of: manifest)
    guard let value = try ShardFile.value(in: file, header: Self.header) else {
      // Older versions of ferry did not record the number.
      return try shardFolders(of: manifest).first?.count
    }
    guard let shards = Int(value), (1...Shard.most).contains(shards) else {
      throw JournalError(.foreign, file: file, cause: "it does not contain a number of shards")
    }
    return shards
  }

  /// Records the number of shards of a manifest, unless a number is recorded already.
  ///
  /// - Returns: whether the number was recorded.
  package func recordDivision(of manifest: String, into count: Int) throws(JournalError) -> Bool {
    let file = try divisionFile(of: manifest)
    guard access(file, F_OK) != 0 else { return false }
    try Self.createFolder(SplitPath(file).folder)
    // The file appears with its content, and only if no other process has created it (link(2)).
    let new = file + ".\(UUID().uuidString).new"
    defer { unlink(new) }
    try ShardFile.write("\(count)", header: Self.header, to: new)
    guard link(new, file) != 0 else {
      try Self.syncFolder(SplitPath(file).folder)
      return true
    }
    switch errno {
    case EEXIST: return false
    case EPERM, EOPNOTSUPP, ENOSYS:
      // The file system has no hard links. Two processes that start at the same time are not kept apart.
      guard access(file, F_OK) != 0 else { return false }
      guard rename(new, file) == 0 else { throw JournalError(errno: errno, doing: "rename", file: new) }
      return true
    case let code: throw JournalError(errno: code, doing: "create", file: file)
    }
  }

  /// Removes the number that this process has recorded.
  package func removeDivision(of manifest: String) throws(JournalError) {
    let file = try divisionFile(of: manifest)
    guard unlink(file) == 0 || errno == ENOENT else {
      throw JournalError(errno: errno, doing: "remove", file: file)
    }
  }
}

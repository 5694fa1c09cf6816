import FerryPlan
import Foundation

/// The part of a manifest whose state a folder below `shards` contains: one shard, or the work that runs once.
package enum ShardMarker: Hashable, Sendable {
  case shard(Shard)
  /// The requests and fetches that run once, before and after the shards.
  case once(count: Int)

  package init(_ part: ShardPart) {
    switch part {
    case .items(let shard): self = .shard(shard)
    case .setup(let count), .finish(let count): self = .once(count: count)
    }
  }

  package var count: Int {
    switch self {
    case .shard(let shard): shard.count
    case .once(let count): count
    }
  }

  /// The name of the folder.
  package var folderName: String {
    switch self {
    case .shard(let shard): "\(shard.number)-of-\(shard.count)"
    case .once(let count): "once-of-\(count)"
    }
  }

  /// Reads the name of a folder; returns `nil` for any other name.
  package init?(folderName name: String) {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[1] == "of", let count = Int(parts[2]) else { return nil }
    if parts[0] == "once" {
      guard (1...Shard.most).contains(count) else { return nil }
      self = .once(count: count)
    } else {
      guard let number = Int(parts[0]), let shard = Shard(number, of: count) else { return nil }
      self = .shard(shard)
    }
    // Each part has exactly one name: `03-of-100` is not the name of a part.
    guard folderName == name else { return nil }
  }
}

/// The part of a manifest that is stored in the file `shard` of the part's state folder, so that every command with this
/// state folder handles only that part.
struct StoredPart: Hashable {
  /// The manifest's name as a file name.
  var manifest: String
  var part: ShardMarker

  /// The path of the state folder in `shards`.
  var path: String { manifest + "/" + part.folderName }

  init(_ part: ShardMarker, of manifest: String) { (self.manifest, self.part) = (manifest, part) }

  /// Returns `nil` if the path is not that of a part.
  init?(path: String) {
    let path = SplitPath(path)
    guard !path.folder.isEmpty, SplitPath(path.folder).start.isEmpty,
      let part = ShardMarker(folderName: path.name)
    else { return nil }
    self.init(part, of: path.folder)
  }
}

extension StateDirectory {
  private var marker: String { path + "/" + Self.markerName }
  static let markerName = "shard"
  static let markerHeader = "ferry shard 1"

  /// The folder that contains the state of a manifest's shards.
  package func shards(of manifest: String) throws(JournalError) -> String {
    path + "/shards/" + (try Self.fileName(manifest))
  }

  /// The state folder of a part of a manifest. It need not exist.
  package func folder(of part: ShardMarker, of manifest: String) throws(JournalError) -> StateDirectory {
    try StateDirectory(
      explicit: try shards(of: manifest) + "/" + part.folderName, environment: [:])
  }

  /// The parts of a manifest that have a state folder here: first the work that runs once, then the shards in the
  /// order of their numbers.
  package func shardFolders(of manifest: String) throws(JournalError) -> [ShardMarker] {
    try Self.shardFolders(in: shards(of: manifest))
  }

  /// Like `shardFolders(of:)`, given the folder that contains the state folders of the parts.
  package static func shardFolders(in folder: String) throws(JournalError) -> [ShardMarker] {
    try names(in: folder).compactMap(ShardMarker.init(folderName:)).sorted { order($0) < order($1) }
  }

  /// The names of the folders of manifests with shards, as they are in the state folder's `shards`. Files are ignored:
  /// the folder to which `ferry shard` writes by default has the same name.
  package static func manifestsWithShards(in state: StateDirectory) throws(JournalError) -> [String] {
    try manifests(in: state.path + "/shards")
  }

  static func manifests(in shards: String) throws(JournalError) -> [String] {
    var manifests: [String] = []
    for name in try names(in: shards).sorted() {
      let folder = shards + "/" + name
      if isFolder(folder), try !shardFolders(in: folder).isEmpty { manifests.append(name) }
    }
    return manifests
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func order(_ marker: ShardMarker) -> (Int, Int) {
    switch marker {
    case .once(let count): (count, 0)
    case .shard(let shard): (shard.count, shard.number)
    }
  }

  /// Creates the folder, and records which part's state it contains.
  ///
  /// - Throws: `JournalError`, with the code `misplaced` if the folder contains the state of another part.
  package func create(for part: ShardMarker, of manifest: String) throws(JournalError) {
    try Self.createFolder(path)
    try checkIsPrivate()
    try record(StoredPart(part, of: try Self.fileName(manifest)))
    try create()
  }

  /// Writes the marker before the other files are created, so that another process never lists those files.
  private func record(_ new: StoredPart) throws(JournalError) {
    if let stored = try stored {
      guard stored == new else { throw .misplaced(path, contains: stored.path, instead: new.path) }
      return
    }
    // If this process is killed here, or another one reads the file now, the file must not be incomplete.
    let file = marker + ".\(UUID().uuidString).new"
    defer { unlink(file) }
    try ShardFile.write(new.path, header: Self.markerHeader, to: file)
    guard rename(file, marker) == 0 else { throw JournalError(errno: errno, doing: "rename", file: file) }
  }

  /// Whether the folder contains the state of a part. Processes on several machines may use such a folder.
  var isOfShard: Bool { get throws(JournalError) { try storedPart != nil } }

  /// The part whose state the folder contains; `nil` for any other state folder.
  ///
  /// - Throws: `JournalError`, with the code `misplaced` if the folder is at the place of another part.
  package var storedPart: ShardMarker? { get throws(JournalError) { try stored?.part } }

  /// Like `storedPart`, with the manifest.
  var stored: StoredPart? {
    get throws(JournalError) {
      guard let value = try ShardFile.value(in: marker, header: Self.markerHeader) else { return nil }
      guard let stored = StoredPart(path: value) else {
        throw JournalError(.foreign, file: marker, cause: "it does not name a shard")
      }
      // If two folders were exchanged, each of them would be used with the files of the other.
      if let other = misplacement(of: stored) {
        throw .misplaced(path, contains: stored.path, instead: other.path)
      }
      return stored
    }
  }
}

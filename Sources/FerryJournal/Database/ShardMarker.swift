import FerryPlan
import Foundation

/// The part of a manifest whose state a folder below `shards` contains: one shard, or the work that runs once. The
/// part is stored in the file `shard` of the folder, so that every command with this state folder handles only
/// that part.
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

extension StateDirectory {
  private var marker: String { path + "/shard" }
  private static let markerHeader = "ferry shard 1"

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

  private static func manifests(in shards: String) throws(JournalError) -> [String] {
    var manifests: [String] = []
    for name in try names(in: shards).sorted() {
      let folder = shards + "/" + name
      if isFolder(folder), try !shardFolders(in: folder).isEmpty { manifests.append(name) }
    }
    return manifests
  }

  /// What the place of a folder without a marker reserves it for.
  package enum ShardPlace: Hashable, Sendable {
    /// The state of a part that has not run yet.
    ///
    /// - Parameters:
    ///   - manifest: the manifest's name as a file name.
    ///   - whole: the path of the state folder of the whole manifest.
    case part(ShardMarker, manifest: String, whole: String)
    /// The state folders of parts.
    case parts
  }

  /// The purpose of a folder in or below the `shards` of a state folder; `nil` for other folders and for the state folder
  /// of a part that has run.
  package var shardPlace: ShardPlace? {
    get throws(JournalError) {
      guard try storedPart == nil else { return nil }
      let absolute = AbsolutePath.withoutLinks(path)
      let (folder, parent) = (SplitPath(absolute), SplitPath(SplitPath(absolute).folder))
      let shards = SplitPath(parent.folder)
      if let part = ShardMarker(folderName: folder.name), shards.name == "shards", !shards.folder.isEmpty {
        return .part(part, manifest: parent.name, whole: shards.folder)
      }
      if parent.name == "shards", try !Self.shardFolders(in: absolute).isEmpty { return .parts }
      if folder.name == "shards", try !Self.manifests(in: absolute).isEmpty { return .parts }
      return nil
    }
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
  package func create(for part: ShardMarker) throws(JournalError) {
    try create()
    guard try storedPart != part else { return }
    // If this process is killed here, or another one reads the file now, the file must not be incomplete.
    let new = marker + ".\(getpid()).new"
    try ShardFile.write(part.folderName, header: Self.markerHeader, to: new)
    guard rename(new, marker) == 0 else { throw JournalError(errno: errno, doing: "rename", file: new) }
  }

  /// Whether the folder contains the state of a part. Processes on several machines may use such a folder.
  var isOfShard: Bool { get throws(JournalError) { try storedPart != nil } }

  /// The part whose state the folder contains; `nil` for any other state folder.
  package var storedPart: ShardMarker? {
    get throws(JournalError) {
      guard let name = try ShardFile.value(in: marker, header: Self.markerHeader) else { return nil }
      guard let part = ShardMarker(folderName: name) else {
        throw JournalError(.foreign, file: marker, cause: "it does not name a shard")
      }
      return part
    }
  }

  /// The state folder that contains this one in `shards`, or this folder itself if it is not the state folder
  /// of a part in `shards`.
  package var whole: StateDirectory {
    get throws(JournalError) {
      guard let part = try storedPart else { return self }
      let folder = SplitPath(AbsolutePath.text(of: path))
      let manifest = SplitPath(folder.folder)
      let shards = SplitPath(manifest.folder)
      // If the folder was copied to another place, the folders above it are not those of the manifest.
      guard folder.name == part.folderName, shards.name == "shards", !shards.folder.isEmpty else {
        return self
      }
      return try StateDirectory(explicit: shards.folder, environment: [:])
    }
  }

  /// The folder of the ledger that all parts of the manifest share, next to this state folder of a part.
  package var sharedLedger: StateDirectory {
    get throws(JournalError) {
      let folder = SplitPath(AbsolutePath.text(of: path)).folder
      return try StateDirectory(explicit: folder + "/budgets", environment: [:])
    }
  }

  /// The state folder of another part of the same manifest, next to this one.
  package func sibling(_ part: ShardMarker) throws(JournalError) -> StateDirectory {
    let folder = SplitPath(AbsolutePath.text(of: path)).folder
    return try StateDirectory(explicit: folder + "/" + part.folderName, environment: [:])
  }
}

import FerryPlan
import Foundation

/// A path of the form `WHOLE/shards/MANIFEST/PART`, where the state of a part is stored.
struct ShardPath: Hashable {
  /// The state folder of the whole manifest.
  var whole: String
  var stored: StoredPart

  /// Returns `nil` if the path does not have this form.
  ///
  /// - Parameter path: an absolute path.
  init?(_ path: String) {
    let folder = SplitPath(path)
    let manifest = SplitPath(folder.folder)
    let shards = SplitPath(manifest.folder)
    guard let part = ShardMarker(folderName: folder.name), shards.name == "shards", !shards.folder.isEmpty
    else { return nil }
    (whole, stored) = (shards.folder, StoredPart(part, of: manifest.name))
  }

  /// The folder that contains the state folders of all parts.
  var parts: String { whole + "/shards/" + stored.manifest }

  /// Whether `whole` is a state folder, rather than a folder that contains the target of a link.
  fileprivate var hasWhole: Bool { access(whole + "/sessions", F_OK) == 0 }

  /// Whether the path leads to the parts through the state folder of the whole manifest.
  fileprivate var isKnown: Bool { hasCount && hasWhole }

  /// Whether the number of shards is recorded there, as in every folder in which a part has run.
  private var hasCount: Bool { access(parts + "/" + StateDirectory.countName, F_OK) == 0 }
}

extension StateDirectory {
  /// The paths of this form that lead to this folder: the path that the user specified, and the path without links.
  ///
  /// Normally, both are the same, or only one of them has this form. If `shards` or a folder in it is a link, the path
  /// that the user specified leads to the state folder of the whole manifest, and is the first one. If the last folder
  /// is a link, its neighbors may be unrelated, so the path through the state folder of the whole manifest is the first one.
  private var shardPaths: [ShardPath] {
    var found: [ShardPath] = []
    for path in [AbsolutePath.text(of: path), AbsolutePath.withoutLinks(path)] {
      if let path = ShardPath(path), !found.contains(path) { found.append(path) }
    }
    if found.count == 2, !found[0].isKnown, found[1].isKnown { found.swapAt(0, 1) }
    return found
  }

  /// The place of this state folder of a part; `nil` for any other folder.
  private var ownPath: ShardPath? {
    get throws(JournalError) {
      guard let stored = try stored else { return nil }
      // If the folder was copied to another place, the folders above it are not those of the manifest.
      return shardPaths.first { $0.stored == stored }
    }
  }

  /// The part at whose place this folder is, if that is not the part it contains. A folder outside `shards` is not
  /// misplaced.
  func misplacement(of stored: StoredPart) -> StoredPart? {
    let places = shardPaths.map(\.stored)
    if let place = ShardPath(AbsolutePath.withoutLinks(path))?.stored, place.part != stored.part {
      return place
    }
    return places.contains(stored) ? nil : places.first
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
    /// The state of a part that has not run yet, in a folder to which a link in `shards` leads. The state folder of the whole
    /// manifest cannot be found from there.
    case partBehindLink
  }

  /// The purpose of a folder in or below the `shards` of a state folder; `nil` for other folders and for the state folder
  /// of a part that has run.
  package var shardPlace: ShardPlace? {
    get throws(JournalError) {
      guard try storedPart == nil else { return nil }
      if let path = shardPaths.first {
        return .part(path.stored.part, manifest: path.stored.manifest, whole: path.whole)
      }
      for path in [AbsolutePath.text(of: path), AbsolutePath.withoutLinks(path)] {
        let (folder, parent) = (SplitPath(path), SplitPath(SplitPath(path).folder))
        if parent.name == "shards", try !Self.shardFolders(in: path).isEmpty { return .parts }
        if folder.name == "shards", try !Self.manifests(in: path).isEmpty { return .parts }
      }
      // The target of a link in `shards` need not have a name of this form.
      let folder = AbsolutePath.withoutLinks(path)
      if Self.hasCount(in: folder) { return .parts }
      if ShardMarker(folderName: SplitPath(folder).name) != nil, Self.hasCount(in: SplitPath(folder).folder) {
        return .partBehindLink
      }
      let names = access(sessionsFolder, F_OK) == 0 ? [] : try Self.names(in: folder)
      return names.contains { Self.hasCount(in: folder + "/" + $0) } ? .parts : nil
    }
  }

  /// The name of the manifest whose part this state folder contains; `nil` for any other state folder.
  package var manifestOfPart: String? {
    get throws(JournalError) {
      guard let name = try stored?.manifest else { return nil }
      return name.removingPercentEncoding ?? name
    }
  }

  /// The state folder that contains this one in `shards`, or this folder itself if it is not the state folder
  /// of a part in `shards`.
  package var whole: StateDirectory {
    get throws(JournalError) {
      guard let path = try ownPath else { return self }
      return try StateDirectory(explicit: path.whole, environment: [:])
    }
  }

  /// The folders whose contents are state of ferry, for a command with this state folder: that of the whole manifest, or the
  /// folder `shards` if that folder is not a state folder; and the folder `shards` that contains this state folder of a part
  /// without links, if it is another one.
  package var ownFolders: [String] {
    get throws(JournalError) {
      guard let own = try ownPath else { return [path] }
      return [own.hasWhole ? own.whole : own.whole + "/shards"]
        + shardPaths.filter { $0.stored == own.stored && $0.whole != own.whole }.map { $0.whole + "/shards" }
    }
  }

  /// Whether the state folders of the whole manifest and of the other parts can be found from this state folder of a part;
  /// `true` for any other state folder. They cannot be found from the target of a link in `shards`.
  package var hasKnownParts: Bool {
    get throws(JournalError) {
      guard try stored != nil else { return true }
      return try ownPath?.hasWhole == true
    }
  }

  /// The folder of the ledger that all parts of the manifest share, next to this state folder of a part.
  package var sharedLedger: StateDirectory {
    get throws(JournalError) { try StateDirectory(explicit: try parts + "/budgets", environment: [:]) }
  }

  /// The state folder of another part of the same manifest, next to this one. It need not exist.
  ///
  /// - Throws: `JournalError`, with the code `misplaced` if the folder contains the state of another part.
  package func sibling(_ part: ShardMarker) throws(JournalError) -> StateDirectory {
    let state = try StateDirectory(explicit: try parts + "/" + part.folderName, environment: [:])
    _ = try state.stored
    return state
  }

  /// The state folders of the manifest's other parts, next to this one.
  var otherParts: [StateDirectory] {
    get throws(JournalError) {
      let own = try storedPart
      var others: [StateDirectory] = []
      for part in try Self.shardFolders(in: parts) where part != own { others.append(try sibling(part)) }
      return others
    }
  }

  /// The folder that contains this state folder of a part and those of the other parts.
  private var parts: String {
    get throws(JournalError) {
      try ownPath?.parts ?? SplitPath(AbsolutePath.withoutLinks(path)).folder
    }
  }
}

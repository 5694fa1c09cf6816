import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// Finds the state folders of a manifest's parts.
package enum ShardFolders {
  package struct Part {
    var marker: ShardMarker
    var state: StateDirectory
  }

  /// The parts in a folder, which may be the state folder of the whole manifest, the folder with its parts, or the
  /// folder of one part.
  static func parts(at path: String) throws -> [Part] {
    let path = AbsolutePath.text(of: path)
    let state = try StateDirectory(explicit: path, environment: [:])
    if let marker = try state.storedPart { return [Part(marker: marker, state: state)] }
    var folder = path
    var found = try StateDirectory.shardFolders(in: folder)
    if found.isEmpty {
      let manifests = try StateDirectory.manifestsWithShards(in: state)
      guard manifests.count <= 1 else {
        throw UsageError(
          "\(DisplayPath.shown(path)) contains the shards of several manifests\nhelp: specify one of "
            + manifests.map { DisplayPath.shown("\(path)/shards/\($0)") }.joined(separator: ", "))
      }
      folder = path + "/shards/" + (manifests.first ?? "")
      if !manifests.isEmpty { found = try StateDirectory.shardFolders(in: folder) }
    }
    guard !found.isEmpty else {
      throw UsageError(
        "\(DisplayPath.shown(path)) does not contain the state of shards\n"
          + "help: specify the state folder of 'ferry run --shard', or a folder below its folder 'shards'")
    }
    return try found.map { marker in
      Part(
        marker: marker,
        state: try StateDirectory(explicit: folder + "/" + marker.folderName, environment: [:]))
    }
  }
}

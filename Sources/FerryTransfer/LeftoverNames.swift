import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The names of temporary files in folders of downloads, most of which earlier processes left behind.
///
/// Each download looks for leftovers of its destination. If each read its whole folder, a batch of downloads to one
/// folder would read as many names as the square of its size. A large folder is therefore read again only after as
/// many downloads as it had entries, so that a download reads one name on average.
final class LeftoverNames: Sendable {
  static let shared = LeftoverNames()

  private struct Folder {
    var names: [[UInt8]] = []
    /// The number of downloads after which the folder is read again.
    var remaining = 0
  }

  private let folders = Mutex<[String: Folder]>([:])

  /// A folder with at most this many entries is read for each download.
  private static let few = 64
  /// The number of folders that are remembered.
  private static let most = 1_000

  /// The names in a folder that begin with a prefix and have the form of a temporary name.
  func names(in folder: String, prefix: String) -> [[UInt8]] {
    folders.withLock { folders in
      if let known = folders[folder], known.remaining > 0 {
        folders[folder]?.remaining -= 1
      } else {
        if folders.count >= Self.most { folders.removeAll() }
        folders[folder] = Self.read(folder)
      }
      return (folders[folder]?.names ?? []).filter { $0.starts(with: prefix.utf8) }
    }
  }

  private static func read(_ path: String) -> Folder {
    var folder = Folder()
    guard let directory = opendir(path) else { return folder }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
      count += 1
      withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        let name = bytes.prefix { $0 != 0 }
        guard name.first == UInt8(ascii: "."), TemporaryName.matches(name) else { return }
        folder.names.append(Array(name))
      }
    }
    folder.remaining = count > few ? count : 0
    return folder
  }
}

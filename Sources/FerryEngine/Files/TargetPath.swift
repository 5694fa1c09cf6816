import FerryManifest
import FerryTransfer

/// The file to which an item of a list is saved.
struct TargetPath {
  /// The reason why a list must not name a path.
  struct Refusal: Error {
    var message: String
  }

  /// The path relative to the manifest's folder, without `.` and repeated slashes.
  let bytes: [UInt8]

  /// The maximum lengths of a name and of a path, in bytes (NAME_MAX, PATH_MAX).
  private static let (longestName, longestPath) = (255, 4095)
  /// A list can determine a part of a path. This is the maximum number of folders in that part: each folder is created,
  /// and compared with the files of other items.
  private static let mostFolders = 100

  /// - Parameters:
  ///   - folder: the folder that the manifest's author names, with a trailing slash; empty if the list can determine
  ///     the whole path.
  ///   - rest: the path in that folder, which may contain values of a list.
  init(folder: String, rest: String) throws(Refusal) {
    let names = rest.utf8.split(separator: Self.slash, omittingEmptySubsequences: false)
    guard names.count <= Self.mostFolders + 1 else {
      throw Refusal(message: "the path has more than \(Self.mostFolders) folders")
    }
    for name in names {
      if folder.isEmpty, name.isEmpty || name.elementsEqual([Self.dot]) { continue }
      guard !name.isEmpty else { throw Refusal(message: "the path \(rest.quoted) has an empty name") }
      guard !name.elementsEqual([Self.dot]), !name.elementsEqual([Self.dot, Self.dot]) else {
        throw Refusal(message: "the path \(rest.quoted) contains '.' or '..'")
      }
      guard !name.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw Refusal(message: "the path \(rest.quoted) contains a control character")
      }
      guard name.count <= Self.longestName else {
        throw Refusal(message: "a name in the path is longer than \(Self.longestName) bytes")
      }
      guard !TemporaryName.matches(name) else {
        throw Refusal(message: "\(rest.quoted) is a name of ferry's temporary files")
      }
    }
    bytes = FileLister.plain(Array((folder + rest).utf8))
    guard !bytes.isEmpty, bytes.count <= Self.longestPath else {
      throw Refusal(
        message: bytes.isEmpty ? "the path is empty" : "the path is longer than \(Self.longestPath) bytes")
    }
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
}

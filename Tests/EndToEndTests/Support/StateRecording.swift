import Foundation
import Testing

/// The operations on a state folder that the preloaded library has recorded, and the possible contents of the folder if
/// the power fails after the last operation.
struct StateRecording {
  /// An operation, with the file's path relative to the folder. For the folder itself, the path is empty.
  struct Operation {
    enum Kind: Character {
      case write = "W"
      case truncate = "T"
      case sync = "S"
      case unlink = "U"
      case rename = "R"
      case failure = "F"
      case kill = "K"
    }

    var kind: Kind
    var offset: Int
    var path: String
    var bytes: Data
  }

  /// Selects the unsynced changes that have reached the disk when the power fails.
  enum Survival: String, CaseIterable, CustomTestStringConvertible {
    /// None: removed files exist again, and new files do not exist.
    case none
    /// All, except for the second half of each file's last write.
    case torn
    /// A random selection, in any order.
    case some

    var testDescription: String { rawValue }
  }

  let operations: [Operation]

  /// - Parameter folder: the path of the state folder during the recording.
  init(log: URL, folder: String) throws {
    let data = try Data(contentsOf: log)
    let root = URL(filePath: folder).resolvingSymlinksInPath().path(percentEncoded: false)
    var operations: [Operation] = []
    var place = data.startIndex
    while let end = data[place...].firstIndex(of: UInt8(ascii: "\n")) {
      let fields = String(decoding: data[place..<end], as: UTF8.self)
        .split(separator: "\t", omittingEmptySubsequences: false)
      guard fields.count == 4, let kind = Operation.Kind(rawValue: Character(String(fields[0]))),
        let offset = Int(fields[1]), let length = Int(fields[2])
      else { throw CommandFailure(description: "no record: \(fields)") }
      let begin = data.index(after: end)
      // A kill may have truncated the last record, whose operation had not begun.
      guard begin + length <= data.endIndex else { break }
      var path = String(fields[3].dropFirst(root.count))
      while path.hasPrefix("/") { path.removeFirst() }
      operations.append(
        Operation(kind: kind, offset: offset, path: path, bytes: data[begin..<begin + length]))
      place = begin + length
    }
    self.operations = operations
  }

  /// The injected failure, if it occurred.
  var failure: Operation? { operations.first { $0.kind == .failure } }
  var wasKilled: Bool { operations.contains { $0.kind == .kill } }
  /// The number of operations that the library could make fail.
  var count: Int { operations.count { [.write, .truncate, .sync, .failure].contains($0.kind) } }
  var syncs: Int { operations.count { $0.kind == .sync } }

  /// A file whose latest changes are possibly not on disk yet.
  private struct File {
    var durable: Data
    /// Writes and truncations that no sync has confirmed.
    var pending: [Operation] = []
    /// Whether the directory entry of the file is on disk.
    var isNamed: Bool

    func content(_ survival: Survival, _ random: inout SplitMix) -> Data {
      var content = durable
      for (index, operation) in pending.enumerated() {
        switch survival {
        case .none: continue
        case .torn:
          let isLast = index == pending.count - 1
          Self.apply(operation, to: &content, half: isLast)
        case .some:
          if Bool.random(using: &random) { Self.apply(operation, to: &content, half: false) }
        }
      }
      return content
    }

    static func apply(_ operation: Operation, to content: inout Data, half: Bool) {
      if operation.kind == .truncate {
        if half { return }
        if content.count > operation.offset { content = content.prefix(operation.offset) }
        content.append(Data(count: max(0, operation.offset - content.count)))
        return
      }
      let bytes = half ? operation.bytes.prefix(operation.bytes.count / 2) : operation.bytes
      content.append(Data(count: max(0, operation.offset + bytes.count - content.count)))
      content.replaceSubrange(operation.offset..<operation.offset + bytes.count, with: bytes)
    }
  }

  /// Writes the folder as a power failure could have left it, without the shared-memory files.
  func rebuild(_ survival: Survival, at folder: String, seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var files: [String: File] = [:]
    var removed: [String: File] = [:]
    for operation in operations where !operation.path.hasSuffix("-shm") {
      let path = operation.path
      switch operation.kind {
      case .write, .truncate:
        files[path, default: File(durable: Data(), isNamed: false)].pending.append(operation)
      case .sync:
        if var file = files[path] {
          for change in file.pending { File.apply(change, to: &file.durable, half: false) }
          file.pending = []
          file.isNamed = true
          files[path] = file
        } else {
          for name in files.keys where Self.folder(of: name) == path { files[name]?.isNamed = true }
          for name in removed.keys where Self.folder(of: name) == path { removed[name] = nil }
        }
      case .unlink: removed[path] = files.removeValue(forKey: path)
      case .rename:
        let whole = String(decoding: operation.bytes, as: UTF8.self)
        let depth = path.split(separator: "/").count
        let target = whole.split(separator: "/").suffix(depth).joined(separator: "/")
        files[target] = files.removeValue(forKey: path)
      case .failure, .kill: break
      }
    }
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder + "/sessions", withIntermediateDirectories: true)
    try manager.createDirectory(atPath: folder + "/runs", withIntermediateDirectories: true)
    var left = files.filter { survival != .none || $0.value.isNamed }
    if survival == .none {
      for (path, file) in removed where left[path] == nil && file.isNamed { left[path] = file }
    }
    for (path, file) in left.sorted(by: { $0.key < $1.key }) {
      let url = URL(filePath: folder).appending(path: path)
      try manager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try file.content(survival, &random).write(to: url)
    }
  }

  private static func folder(of path: String) -> String {
    path.split(separator: "/").dropLast().joined(separator: "/")
  }
}

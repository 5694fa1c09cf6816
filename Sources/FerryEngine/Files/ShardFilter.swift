import FerryPlan

/// Selects the upload's files that belong to a shard.
struct ShardFilter: Sendable {
  private let shard: Shard
  private let hash: ItemHash

  init(_ shard: Shard, upload: String) {
    self.shard = shard
    hash = ItemHash(upload: upload)
  }

  /// - Parameter path: relative to the upload's root.
  func contains(_ path: some Sequence<UInt8>) -> Bool {
    hash.number(of: path, among: shard.count) == shard.number
  }

  /// - Parameter folder: the file's folder, relative to the root, with a trailing slash.
  func contains(_ folder: [UInt8], _ name: UnsafeRawBufferPointer) -> Bool {
    contains(JoinedPath(folder: folder, name: name))
  }

  /// The bytes of a folder and a name, without a copy.
  private struct JoinedPath: Sequence {
    let folder: [UInt8]
    let name: UnsafeRawBufferPointer

    func makeIterator() -> Iterator { Iterator(path: self) }

    struct Iterator: IteratorProtocol {
      let path: JoinedPath
      private var index = 0

      init(path: JoinedPath) { self.path = path }

      mutating func next() -> UInt8? {
        defer { index += 1 }
        if index < path.folder.count { return path.folder[index] }
        let place = index - path.folder.count
        return place < path.name.count ? path.name[place] : nil
      }
    }
  }
}

/// Paths, sizes and times of many files, in columns instead of one object per file.
///
/// Each file takes about 32 bytes plus its path.
package struct FileColumns: Hashable, Sendable {
  /// The bytes of all paths, concatenated. Names need not be valid UTF-8.
  package var paths: [UInt8]
  /// The end of each path in `paths`.
  package var ends: [Int]
  /// The sizes in bytes.
  package var sizes: [Int64]
  /// The modification times in nanoseconds since 1970.
  package var modified: [Int64]
  /// The identity of each file: a number derived from its device and inode; 0 if unknown.
  package var identities: [UInt64]

  package init(paths: [UInt8] = [], ends: [Int] = [], sizes: [Int64] = [], modified: [Int64] = []) {
    self.paths = paths
    self.ends = ends
    self.sizes = sizes
    self.modified = modified
    identities = Array(repeating: 0, count: ends.count)
  }

  package var count: Int { ends.count }

  package func pathRange(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }

  /// The entry in `sizes` for an item of a download batch whose list does not state its size.
  package static let unknownSize: Int64 = 0

  /// The size of the document of an item of a download batch; `nil` if its list does not state it.
  package func documentSize(_ index: Int) -> Int64? {
    sizes[index] == Self.unknownSize ? nil : sizes[index]
  }

  /// The number of items of a download batch whose list does not state their size.
  package var unknownSizes: Int { sizes.count { $0 == Self.unknownSize } }

  package func path(_ index: Int) -> ArraySlice<UInt8> { paths[pathRange(index)] }

  mutating func reserveCapacity(_ count: Int, pathBytes: Int) {
    paths.reserveCapacity(pathBytes)
    ends.reserveCapacity(count)
    sizes.reserveCapacity(count)
    modified.reserveCapacity(count)
    identities.reserveCapacity(count)
  }

  /// Adds a file.
  ///
  /// - Parameter identity: 0 if the file's identity is unknown.
  package mutating func append(
    path: some Collection<UInt8>, size: Int64, modified: Int64, identity: UInt64 = 0
  ) {
    paths.append(contentsOf: path)
    ends.append(paths.count)
    sizes.append(size)
    self.modified.append(modified)
    identities.append(identity)
  }

  /// Appends a file of another list with all its columns.
  package mutating func append(_ index: Int, of other: FileColumns) {
    append(
      path: other.path(index), size: other.sizes[index], modified: other.modified[index],
      identity: other.identities[index])
  }

  /// Appends a range of the files of another list with all their columns.
  package mutating func append(_ range: Range<Int>, of other: FileColumns) {
    guard !range.isEmpty else { return }
    let bytes = other.pathRange(range.lowerBound).lowerBound..<other.ends[range.upperBound - 1]
    let shift = paths.count - bytes.lowerBound
    paths.append(contentsOf: other.paths[bytes])
    ends.append(contentsOf: other.ends[range].lazy.map { $0 + shift })
    sizes.append(contentsOf: other.sizes[range])
    modified.append(contentsOf: other.modified[range])
    identities.append(contentsOf: other.identities[range])
  }
}

extension FileColumns {
  package enum Order { case before, same, behind }

  /// How a path compares to other bytes, in the order of memcmp.
  package func order(_ index: Int, to other: UnsafeRawBufferPointer) -> Order {
    let range = pathRange(index)
    return paths.withUnsafeBytes { all in
      let own = UnsafeRawBufferPointer(rebasing: all[range])
      let common = min(own.count, other.count)
      var offset = 0
      // Compares eight bytes at a time, because neighbors in a folder share a prefix.
      while offset + 8 <= common {
        let (a, b) = (Self.word(own, offset), Self.word(other, offset))
        if a != b { return a < b ? .before : .behind }
        offset += 8
      }
      while offset < common {
        if own[offset] != other[offset] { return own[offset] < other[offset] ? .before : .behind }
        offset += 1
      }
      return own.count == other.count ? .same : own.count < other.count ? .before : .behind
    }
  }

  /// Eight bytes as a number with the same sort order.
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

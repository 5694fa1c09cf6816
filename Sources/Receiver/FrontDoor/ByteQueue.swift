/// Bytes that wait for a socket to take them.
struct ByteQueue {
  /// So many bytes that were taken stay in memory at least, before the others move up.
  private static let slack = 64 * 1024

  private var storage: [UInt8] = []
  private var start = 0

  /// How many bytes wait.
  var count: Int { storage.count - start }
  /// How many bytes are in memory, those that were taken included.
  var footprint: Int { storage.count }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: some Collection<UInt8>) {
    // A stream that never empties the queue must not leave all that was taken in front of it.
    if start > Self.slack && start > storage.count / 2 {
      storage.removeFirst(start)
      start = 0
    }
    storage.append(contentsOf: bytes)
  }

  /// Offers the waiting bytes to `body`, which says how many it took.
  ///
  /// Returns what `body` returned.
  mutating func drain(_ body: (UnsafeRawBufferPointer) -> SystemSocket.Transfer) -> SystemSocket.Transfer {
    let result = storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    if case .moved(let count) = result {
      start += count
      if start == storage.count {
        storage.removeAll(keepingCapacity: true)
        start = 0
      }
    }
    return result
  }

  mutating func removeAll() {
    storage.removeAll()
    start = 0
  }
}

/// Bytes that are waiting to be written to a socket.
struct ByteQueue {
  /// The number of consumed bytes above which the waiting bytes are moved to the start of the memory.
  private static let slack = 64 * 1024

  private var storage: [UInt8] = []
  private var start = 0

  /// The number of waiting bytes.
  var count: Int { storage.count - start }
  /// The number of bytes in memory, including bytes that were already consumed.
  var footprint: Int { storage.count }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: some Collection<UInt8>) {
    // If a stream never empties the queue, the consumed bytes must not accumulate before the waiting ones.
    if start > Self.slack && start > storage.count / 2 {
      storage.removeFirst(start)
      start = 0
    }
    storage.append(contentsOf: bytes)
  }

  /// Passes the waiting bytes to `body`, which returns the number of bytes that it consumed.
  ///
  /// Returns the result of `body`.
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

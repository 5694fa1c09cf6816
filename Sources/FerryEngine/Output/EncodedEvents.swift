import FerryPlan

/// Encoded events that are queued together: an `EventWriter` locks its queue each time it takes events, which costs as much
/// as encoding an event.
package struct EncodedEvents: ~Copyable {
  package private(set) var bytes = ByteBuffer()
  package private(set) var count = 0
  /// The time of the last event.
  package private(set) var last = Instant(nanoseconds: 0)

  /// The size in bytes of the memory that is kept for further events. More is needed only if a reader is slow.
  private static let keptCapacity = 2 << 20

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// Appends the bytes of an event, which `encode` appends to the buffer.
  package mutating func append(at time: Instant, _ encode: (inout ByteBuffer) -> Void) {
    encode(&bytes)
    count += 1
    last = time
  }

  package mutating func append(_ events: borrowing EncodedEvents) {
    bytes.append(events.bytes)
    count += events.count
    last = events.last
  }

  package mutating func removeAll() {
    if bytes.capacity > Self.keptCapacity { bytes = ByteBuffer() } else { bytes.removeAll() }
    count = 0
  }
}

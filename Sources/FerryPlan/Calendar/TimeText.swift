/// A time as `Instant.rfc3339`, for lines that are written one after another: the date is converted only once a second.
package struct TimeText {
  /// 24 bytes; none before a time is set.
  package private(set) var bytes: [UInt8] = []
  private var second: Int64 = 0
  private var last: Instant?

  /// A text without a time, which is set before the text is used.
  package init() {}

  package init(_ time: Instant) { set(time) }

  package mutating func set(_ time: Instant) {
    // The events of one turn of a run have the same time.
    guard time != last else { return }
    last = time
    let (second, millisecond) = time.nanoseconds.floorDivided(by: 1_000_000).dividedWithFloor(by: 1000)
    if bytes.isEmpty || second != self.second {
      bytes.removeAll(keepingCapacity: true)
      bytes.append(time)
      self.second = second
      return
    }
    // The time ends with three digits and a Z.
    var rest = millisecond
    for position in stride(from: bytes.count - 2, through: bytes.count - 4, by: -1) {
      bytes[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }
}

/// Lines for an `EventWriter`, which takes them together: each time it takes lines, it locks its queue, which costs as much
/// as the encoding of a line.
package struct EventLines {
  private let writer: EventWriter
  private var bytes: [UInt8] = []
  private var count = 0

  /// The number of bytes after which the writer takes the lines before `flush`.
  private static let most = 64 << 10

  package init(_ writer: EventWriter) { self.writer = writer }

  /// - Parameter append: appends one line to a buffer.
  package mutating func add(_ append: (inout [UInt8]) -> Void) {
    append(&bytes)
    count += 1
    if bytes.count >= Self.most { flush() }
  }

  /// Passes the lines to the writer.
  package mutating func flush() {
    guard count > 0 else { return }
    writer.write(&bytes, count: count)
    count = 0
  }

  /// Waits for the lines to be written, for a limited time.
  ///
  /// - Returns: why lines are missing; `nil` if none are.
  package mutating func finish() -> String? {
    flush()
    return writer.finish()
  }
}

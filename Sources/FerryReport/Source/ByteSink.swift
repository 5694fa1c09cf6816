/// Receives the bytes of a document.
package protocol ByteSink: AnyObject {
  /// Appends bytes to the document.
  func write(_ bytes: [UInt8]) throws
}

extension ByteSink {
  func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// Keeps a document in memory.
package final class MemorySink: ByteSink {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package func write(_ bytes: [UInt8]) { self.bytes += bytes }
}

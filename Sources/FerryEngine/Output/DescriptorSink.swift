import FerryPlan
import FerryReport
import Foundation

/// Writes a document to an open descriptor, through a buffer.
package final class DescriptorSink: ByteSink {
  /// The system's error number for a write: EPIPE if the reader has closed the pipe, ETIMEDOUT if it does not read.
  package struct Failure: Error, Equatable {
    package var code: Int32
  }

  private let descriptor: Int32
  private let patience: Duration?
  private var buffer: [UInt8] = []

  private static let size = 1 << 18

  /// - Parameter patience: the maximum time to wait for a reader that does not read; `nil` to wait indefinitely.
  package init(_ descriptor: Int32, patience: Duration? = nil) {
    self.descriptor = descriptor
    self.patience = patience
  }

  package func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.size { try flush() }
  }

  package func flush() throws(Failure) {
    if let code = AtomicWrite.failure(of: buffer, to: descriptor, patience: patience) {
      throw Failure(code: code)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

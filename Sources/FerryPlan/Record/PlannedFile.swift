/// A file that a run would send or download.
package struct PlannedFile: Hashable, Sendable {
  /// The reason why the file would be sent or downloaded. The raw values are a stable public interface.
  package enum Reason: String, Codable, Sendable {
    /// The file has not been sent or downloaded before.
    case new
    /// The file has changed, or is sent or downloaded again in this round.
    case again
    /// An earlier run queued or began the file and did not complete it.
    case unfinished
  }

  /// The value that distinguishes the file from an earlier file with the same path.
  package enum Version: Hashable, Sendable {
    /// The modification time of a file to send, in nanoseconds since 1970.
    case modified(Int64)
    /// A number that was derived from an item's digest or URL in the list of a download batch.
    case listed(Int64)

    /// - Parameter number: as in the journal.
    package init(_ number: Int64, of kind: Node.Kind) {
      self = kind.direction == .received ? .listed(number) : .modified(number)
    }
  }

  package var node: String
  package var path: [UInt8]
  package var size: Int64
  package var version: Version
  package var reason: Reason

  package init(node: String, path: [UInt8], size: Int64, version: Version, reason: Reason) {
    self.node = node
    self.path = path
    self.size = size
    self.version = version
    self.reason = reason
  }
}

extension ItemTable {
  /// The reason why the item would be sent.
  package func reason(of item: Int) -> PlannedFile.Reason {
    switch entries[item] {
    case .new: .new
    case .requeued, .changed: .again
    case .continuing, .adopted: .unfinished
    }
  }
}

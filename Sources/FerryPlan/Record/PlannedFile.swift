/// A file that a run would send.
package struct PlannedFile: Hashable, Sendable {
  /// Why it would be sent. The raw values are a stable public interface.
  package enum Reason: String, Codable, Sendable {
    /// It was not sent before.
    case new
    /// It has changed, or is sent again in this round.
    case again
    /// An earlier run began it, or left it.
    case unfinished
  }

  package var node: String
  package var path: [UInt8]
  package var size: Int64
  /// The modification time in nanoseconds since 1970.
  package var modified: Int64
  package var reason: Reason

  package init(node: String, path: [UInt8], size: Int64, modified: Int64, reason: Reason) {
    self.node = node
    self.path = path
    self.size = size
    self.modified = modified
    self.reason = reason
  }
}

extension ItemTable {
  /// Why the item would be sent.
  package func reason(of item: Int) -> PlannedFile.Reason {
    switch entries[item] {
    case .new: .new
    case .requeued, .changed: .again
    case .continuing, .adopted: .unfinished
    }
  }
}

import FerryPlan

/// A request for open work. The request may have reached the server, but no response to it is recorded.
package struct UnansweredRequest: Hashable, Sendable {
  package var session: String
  package var manifest: String
  package var node: String
  /// The path of the item; `nil` for a request or a fetch.
  package var path: [UInt8]?
  /// The step of the item; `nil` for a request or a fetch.
  package var step: ItemStep?

  package init(session: String, manifest: String, node: String, path: [UInt8]?, step: ItemStep?) {
    self.session = session
    self.manifest = manifest
    self.node = node
    self.path = path
    self.step = step
  }
}

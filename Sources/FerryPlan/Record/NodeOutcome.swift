/// The outcome of a node.
package enum NodeOutcome: String, Codable, Sendable {
  case succeeded
  case failed
  case ambiguous
  /// The node did not run because the outcome of one of its `needs` does not satisfy its `when`.
  case skipped
}

/// The outcome of a node.
package enum NodeOutcome: String, Codable, Sendable {
  case succeeded
  case failed
  case ambiguous
  /// It did not run, because the outcome of a node that it needs does not satisfy its `when`.
  case skipped
}

/// The maximum number of intents that are written ahead for one host: those that are being written, and those whose steps
/// are waiting for a connection.
package enum IntentLimit {
  /// For unrepeatable steps: twice as many as there are connections.
  package static func steps(connections: Int) -> Int { 2 * connections }

  /// For repeatable commits. The limit is higher, because a commit does not use a connection while its intent is written,
  /// and a sync often takes longer than many commits. After a kill, all of these commits count as
  /// possibly executed.
  package static func commits(connections: Int) -> Int { max(2 * connections, 64) }
}

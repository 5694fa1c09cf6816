import FerryPlan
import GRDB

extension RunHistory {
  /// How fast an upload went, the newest runs first.
  package func samples(
    manifest: String, upload: String, limit: Int
  ) throws(JournalError) -> [TransferSample] {
    try samples("manifest = ? AND upload = ?", [manifest, upload], limit)
  }

  /// How fast uploads of a session went, the newest runs first.
  package func samples(session: String, limit: Int) throws(JournalError) -> [TransferSample] {
    try samples("session = ?", [session], limit)
  }

  private func samples(
    _ condition: String, _ arguments: StatementArguments, _ limit: Int
  ) throws(JournalError) -> [TransferSample] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: "SELECT bytes, duration FROM rate WHERE \(condition) ORDER BY run DESC LIMIT \(max(0, limit))",
        arguments: arguments
      ).map { TransferSample(bytes: $0["bytes"], duration: .nanoseconds($0["duration"])) }
    }
  }

  /// Adds what a run has seen to its line.
  static func insert(_ rates: [RateRow], run id: String, _ db: Database) throws {
    for rate in rates {
      try db.execute(
        sql: """
          INSERT INTO rate (run, manifest, upload, session, bytes, duration)
          SELECT sequence, ?, ?, ?, ?, ? FROM run WHERE id = ?
          """,
        arguments: [
          rate.manifest, rate.upload, rate.session, rate.sample.bytes,
          rate.sample.duration.nanoseconds, id,
        ])
    }
  }
}

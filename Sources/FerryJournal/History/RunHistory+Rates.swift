import FerryPlan
import GRDB

extension RunHistory {
  /// The transfer rates of an upload, newest runs first.
  package func samples(
    manifest: String, upload: String, limit: Int
  ) throws(JournalError) -> [TransferSample] {
    try samples("manifest = ? AND upload = ?", [manifest, upload], limit)
  }

  /// The transfer rates of a session's uploads, newest runs first.
  package func samples(session: String, limit: Int) throws(JournalError) -> [TransferSample] {
    try samples("session = ?", [session], limit)
  }

  private func samples(
    _ condition: String, _ arguments: StatementArguments, _ limit: Int
  ) throws(JournalError) -> [TransferSample] {
    try read { db in
      try db.rows(
        "SELECT run, bytes, duration FROM rate WHERE \(condition) ORDER BY run DESC LIMIT \(max(0, limit))",
        arguments, of: "rate", in: self.path
      ) { row in
        let (bytes, duration): (Int64, Int64) = (try row.value("bytes"), try row.value("duration"))
        guard bytes >= 0 else { throw row.damaged("bytes", "\(bytes)") }
        guard duration >= 0 else { throw row.damaged("duration", "\(duration)") }
        return TransferSample(bytes: bytes, duration: .nanoseconds(duration))
      }
    }
  }

  /// Adds the rates that a run measured.
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

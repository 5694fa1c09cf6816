import FerryPlan

/// Reads the rows of nodes.
extension SessionJournal {
  func node(_ row: JournalRow) throws -> NodeRow {
    let fetchedAt: Int64? = try row.optional("fetched_at")
    let interval: Int64? = try row.optional("fetch_interval")
    let closedAt: Int64? = try row.optional("closed_at")
    let failedAt: Int64? = try row.optional("failed_at")
    let etag: String? = try row.optional("etag")
    let lastModified: String? = try row.optional("last_modified")
    let storedFile: String? = try row.optional("stored_file")
    let storedFrom: String? = try row.optional("stored_from")
    let freshUntil: Int64? = try row.optional("fresh_until")
    let file = storedFile.flatMap { FileVersion($0) }
    if let storedFile, file == nil { throw row.damaged("stored_file", storedFile) }
    let failingRound: Int64? = try row.optional("failing_round")
    let failingSince: Int64? = try row.optional("failing_since")
    let round: Int64 = try row.value("round")
    guard round >= 0 else { throw row.damaged("round", "\(round)") }
    return NodeRow(
      id: try row.value("id"), manifest: try row.value("manifest"), name: try row.value("name"),
      kind: try row.word("kind"), origin: try row.value("origin"), round: round, state: try row.word("state"),
      hasIntent: try row.optional("intent", as: Int64.self) != nil,
      closedAt: closedAt.map(Instant.init(nanoseconds:)), failedAt: failedAt.map(Instant.init(nanoseconds:)),
      failing: failingRound.flatMap { round in
        failingSince.map { NodeRow.Failing(round: round, since: Instant(nanoseconds: $0)) }
      },
      fetch: fetchedAt.map {
        FetchRecord(
          etag: etag, lastModified: lastModified, fetchedAt: Instant(nanoseconds: $0),
          interval: interval.map { .nanoseconds($0) }, file: file, source: storedFrom,
          freshUntil: freshUntil.map(Instant.init(nanoseconds:)))
      },
      captures: try row.captures, failure: try row.failure,
      countingPoint: try row.optional("counts_from", as: Int64.self).flatMap {
        CountingPoint(rawValue: UInt8(truncatingIfNeeded: $0))
      })
  }
}

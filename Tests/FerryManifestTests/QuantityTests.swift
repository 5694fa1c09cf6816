import FerryManifest
import Testing

@Suite struct `Durations and sizes` {
  private func duration(_ text: String) -> Duration? {
    read("version: 1\nname: n\nsessions: { s: { timeout_for_request: \(text) } }").manifest?.sessions.first?
      .timeoutForRequest
  }

  private func size(_ text: String) -> Int64? {
    read(head + bytes(text)).manifest?.uploads.first?.batch.maxBytes
  }

  private func bytes(_ text: String) -> String {
    """
    uploads:
      u:
        session: quick
        files: {}
        transfer: { request: { url: http://h/ } }
        batch: { max_bytes: \(text) }
    """
  }

  @Test(
    arguments: [
      ("250ms", .milliseconds(250)), ("30s", .seconds(30)), ("10m", .seconds(600)), ("6h", .seconds(21_600)),
      ("1d", .seconds(86_400)), ("1w", .seconds(604_800)), ("\"30s\"", .seconds(30)),
    ] as [(String, Duration)])
  func `a duration is a whole number and a unit`(_ text: String, _ value: Duration) {
    #expect(duration(text) == value)
  }

  @Test(
    arguments: [
      ("1B", 1), ("500kB", 500_000), ("5MB", 5_000_000), ("5GB", 5_000_000_000), ("1TB", 1_000_000_000_000),
      ("1KiB", 1_024), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648),
    ] as [(String, Int64)])
  func `a size is a whole number and a unit`(_ text: String, _ value: Int64) {
    #expect(size(text) == value)
  }

  @Test(
    arguments: [
      ("30", "'timeout_for_request' needs a unit", "write one of 30ms, 30s, 30m, 30h, 30d or 30w"),
      ("1.5h", "'timeout_for_request' must be a whole number and a unit", "write '90m'"),
      (
        "1h30m", "'timeout_for_request' must be a duration such as 30s, found '1h30m'", "write '90m'"
      ),
      ("30S", "'timeout_for_request' has the unknown unit 'S'", "did you mean '30s'?"),
      ("30sec", "'timeout_for_request' has the unknown unit 'sec'", "did you mean '30s'?"),
      (
        "1fortnight", "'timeout_for_request' has the unknown unit 'fortnight'",
        "the units are ms, s, m, h, d or w"
      ),
      ("99999999999999999999s", "'timeout_for_request' is too large", "the largest is a century, 36500d"),
      ("99999999999999999w", "'timeout_for_request' is too large", "the largest is a century, 36500d"),
      ("36501d", "'timeout_for_request' is too large", "the largest is a century, 36500d"),
      (
        "-5s", "'timeout_for_request' must be a duration such as 30s, found '-5s'",
        "write one number followed by one unit: ms, s, m, h, d or w"
      ),
      ("0s", "'timeout_for_request' must be at least 1ms", "write 1ms or more"),
      (
        "[]", "'timeout_for_request' must be a duration such as 30s, found a list",
        "for example 'timeout_for_request: 30s'"
      ),
    ] as [(String, String, String?)])
  func `a mistake in one is reported with a remedy`(_ text: String, _ message: String, _ help: String?) {
    let found = read("version: 1\nname: n\nsessions: { s: { timeout_for_request: \(text) } }").diagnostics
    #expect(found.map(\.message) == [message])
    #expect(found.map(\.help) == [help])
  }

  @Test(arguments: [
    ("5", "'max_bytes' needs a unit"), ("5mb", "'max_bytes' has the unknown unit 'mb'"),
    ("9223372036854775807kB", "'max_bytes' is too large"), ("0B", "'max_bytes' must be at least 1B"),
  ])
  func `a size has its own mistakes`(_ text: String, _ message: String) {
    #expect(read(head + bytes(text)).diagnostics.map(\.message) == [message])
  }

  @Test func `a duration on the command line is read as one in a manifest, and gets the same help`() throws {
    #expect(try Duration(written: "90m") == .seconds(5400))
    #expect(try Duration(written: "0s") == .zero)
    #expect(Duration.writtenUnits == "ms, s, m, h, d or w")
    for (text, predicate, help) in [
      ("30", "needs a unit", "write one of 30ms, 30s, 30m, 30h, 30d or 30w"),
      ("1h30m", "must be a duration such as 30s", "write '90m'"),
      ("1.5h", "must be a whole number and a unit", "write '90m'"),
      ("2fortnights", "has the unknown unit 'fortnights'", "the units are ms, s, m, h, d or w"),
      ("36501d", "is too large", "the largest is a century, 36500d"),
    ] {
      #expect(throws: QuantityMistake(predicate: predicate, help: help), "\(text)") {
        try Duration(written: text)
      }
    }
  }
}

import FerryManifest
import FerryPlan
import Testing

/// The connections that the scheduler gives to downloads with `segments`.
@Suite struct `A download with segments` {
  /// The connections of the attempts that start first.
  private func connections(_ sizes: [Int64], limit: Int = 6) throws -> [Int] {
    let plan = try Plan(
      yaml: """
        version: 1
        name: test
        sessions: { s: { max_connections_per_host: \(limit) } }
        downloads:
          d:
            session: s
            segments: 4
            items: { file: l, json: "", url: "http://h/${item.name}", save_to: "o/${item.name}", size: "${item.size}" }

        """)
    var table = ItemTable()
    for (number, size) in sizes.enumerated() {
      table.append(path: "f\(number)".utf8, size: size, modified: 0, row: Int64(number + 1), entry: .new)
    }
    var scheduler = Scheduler(
      plan: plan, starts: [.upload(table, .init())], options: LaunchOptions(seed: 1))
    let now = Instant(nanoseconds: 1_000_000_000)
    let actions = scheduler.handle(.launched, at: now) + scheduler.handle(.synced(through: 1), at: now)
    return actions.compactMap { if case .start(let attempt) = $0 { attempt.connections } else { nil } }
  }

  private static let least = DocumentOptions.leastRange

  @Test func `takes a connection for each range that its document can have`() throws {
    #expect(try connections([1, Self.least]) == [1, 1])
    #expect(try connections([Self.least + 1, 3 * Self.least]) == [2, 3])
    #expect(try connections([.max]) == [4])
  }

  @Test func `takes all of them if the size of its document is not known`() throws {
    #expect(try connections([FileColumns.unknownSize]) == [4])
  }

  @Test func `does not keep small documents waiting`() throws {
    #expect(try connections(Array(repeating: 1_000, count: 8)) == [1, 1, 1, 1, 1, 1])
  }

  @Test func `uses the connections that are free`() throws {
    #expect(try connections([.max, .max, .max]) == [4, 2])
    #expect(try connections([.max], limit: 1) == [1])
  }
}

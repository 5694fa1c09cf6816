import FerryManifest
import FerryPlan
import FerrySimulation
import Foundation
import Testing

/// `ferry plan --simulate`, which runs the scheduler on a virtual clock.
@Suite("A simulated plan")
struct ForecastTests {
  /// 2026-03-27T12:00:00Z, a Friday. The clocks in Berlin change two days later.
  private static let start = Instant(nanoseconds: 1_774_612_800_000_000_000)

  private static let berlin = CalendarZone(
    name: "Europe/Berlin", initialOffset: 3600,
    changes: [.init(at: Instant(nanoseconds: 1_774_746_000_000_000_000), offset: 7200)])

  private func setting(_ edit: (inout Forecaster.Setting) -> Void = { _ in }) -> Forecaster.Setting {
    var setting = Forecaster.Setting(
      network: NetworkModel(rate: .shared(1_000_000)), launch: .background,
      conditions: DeviceConditions(network: .wifi), zone: Self.berlin,
      zones: ["Europe/Berlin": Self.berlin], start: Self.start, length: .seconds(30 * 86_400), seed: 7)
    edit(&setting)
    return setting
  }

  private func forecast(
    _ yaml: String, files: Int = 5, size: Int64 = 1_000_000,
    _ edit: (inout Forecaster.Setting) -> Void = { _ in }
  ) throws -> Forecast {
    let plan = try Plan(yaml: yaml)
    var table = ItemTable()
    for index in 0..<files {
      table.append(path: "f\(1000 + index)".utf8, size: size, modified: 0, row: Int64(index + 1), entry: .new)
    }
    let starts = plan.nodes.map { $0.kind == .upload ? NodeStart.upload(table, .init()) : .open }
    var forecaster = Forecaster(
      plan, starts: starts, intervals: [:], delays: [:], foreground: [:], setting(edit))
    return forecaster.forecast()
  }

  private func head(_ policies: String, session: String = "kind: background") -> String {
    "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 2, \(session) } }\n\(policies)\n"
  }

  @Test func `takes as long as its bytes and its latency`() throws {
    let forecast = try forecast(Yaml.put(head: head(""))) { $0.network.latency = .seconds(1) }
    #expect(forecast.isThrough && forecast.requests == 5 && forecast.launches == 1)
    // The transfers take five seconds. In addition, there are three rounds of requests with a latency each.
    #expect(forecast.seconds > 7 && forecast.seconds < 10)
  }

  @Test func `takes as long as the limits of its bandwidth require`() throws {
    // Five files of 1 MB are sent at 100 kB/s. With a timetable, they are sent at 100 kB/s until 13:01 in
    // Berlin, and then at the rate of the network.
    #expect((50...60).contains(try forecast(Yaml.put(head: head("max_bandwidth: 100kB"))).seconds))
    #expect(
      (50...60).contains(
        try forecast(Yaml.put(head: head("", session: "kind: background, max_bandwidth: 100kB"))).seconds))
    let timetable =
      "max_bandwidth: { limit: \"12:00 10kB, 13:01 off\", time_zone: Europe/Berlin }"
    #expect((60...70).contains(try forecast(Yaml.put(head: head(timetable))).seconds))
  }

  @Test func `gives the same bytes for the same seed, and others for another`() throws {
    func text(_ seed: UInt64) throws -> Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let yaml = Yaml.ids(head: head("resume_delay: { policy: before_start }"))
      return try encoder.encode(
        try forecast(yaml, files: 50) {
          $0.seed = seed
          $0.network.lossPercent = 20
        })
    }
    #expect(try text(1) == text(1))
    #expect(try text(1) != text(2))
  }

  @Test func `never completes item by item under a doubling delay, but needs one resume for one batch`()
    throws
  {
    let policies = "resume_delay: { policy: before_start, initial: 60s, factor: 2, max: 1000d }"
    let one = try forecast(Yaml.put("    batch: { max_items: 1 }\n", head: head(policies)), files: 100)
    #expect(!one.isThrough && one.resumes < 25)
    #expect(one.nodes[0].reason?.code == "delay")
    let together = try forecast(Yaml.put(head: head(policies)), files: 100)
    #expect(together.isThrough && together.resumes == 1)
  }

  @Test func `uses a budget window by window, over a change of summer time`() throws {
    let policies = "budgets: { wifi: { limit: 10MB, per: day, time_zone: Europe/Berlin } }"
    let forecast = try forecast(
      Yaml.put(head: head(policies, session: "kind: background, discretionary: true")), files: 35)
    #expect(forecast.isThrough)
    #expect(forecast.budgets.map(\.usedBytes) == [10_000_000, 10_000_000, 10_000_000, 5_000_000])
    #expect(
      forecast.budgets.map(\.windowStart) == [
        "2026-03-26T23:00:00.000Z", "2026-03-27T23:00:00.000Z", "2026-03-28T23:00:00.000Z",
        "2026-03-29T22:00:00.000Z",
      ])
  }

  @Test func `launches from cron, and omits launches that do nothing`() throws {
    let policies = "budgets: { wifi: { limit: 10MB, per: day } }"
    let schedule = try CronSchedule("0 */6 * * *")
    let forecast = try forecast(
      Yaml.put(head: head(policies, session: "kind: background, discretionary: true")), files: 15
    ) { $0.launches = .cron(schedule, .utc) }
    #expect(forecast.isThrough)
    // The launches are at 12:00, the start, at 18:00, and at 0:00 of the next day.
    #expect(forecast.launches == 3)
    #expect(forecast.timeline.map(\.text).filter { $0.hasPrefix("launch") } == ["launch 1", "launch 3"])
  }

  @Test func `follows a timeline of conditions in its time zone`() throws {
    let text = """
      timeline:
        - { from: "00:00", network: wifi, power: external }
        - { from: "08:00", power: battery }
      """
    let (timeline, _, diagnostics) = ConditionTimeline.read(Array(text.utf8), file: "t.yaml")
    #expect(diagnostics.isEmpty)
    let forecast = try forecast(
      Yaml.put(head: head("", session: "kind: background, discretionary: true")), files: 1
    ) { $0.timeline = timeline }
    // The launch starts in the afternoon on battery and waits for midnight in Berlin.
    #expect(forecast.isThrough)
    #expect(forecast.endedAt.hasPrefix("2026-03-27T23:00:0"))
  }

  @Test func `reports upload IDs that expire before they are used`() throws {
    // There is one connection, and each file takes 100 s. The IDs are allocated on a separate connection and expire
    // after 10 s.
    let head = "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 1 }, quick: {} }\n"
    let yaml = Yaml.ids(head: head, validFor: "10s")
      .replacing("allocate:\n", with: "allocate:\n      session: quick\n")
    let forecast = try forecast(yaml, files: 3, size: 100_000_000)
    #expect(forecast.idsExpired > 0)
    #expect(forecast.nodes[0].idsExpired == forecast.idsExpired)
  }

  private func fetch(_ interval: String, more: String = "") -> String {
    head("") + """
      fetches:
        f: { session: s, interval: \(interval), save_to: f, request: { url: "http://host/f" } }
      \(more)
      """
  }

  /// The hours after the start at which a fetch was sent.
  private func hours(_ forecast: Forecast) -> [Int] {
    (forecast.nodes[0].fetches ?? []).compactMap { Instant(rfc3339: $0.at) }
      .map { Int(Self.start.duration(to: $0).seconds.rounded() / 3600) }
  }

  @Test func `stops after the first round unless a period is given`() throws {
    let forecast = try forecast(fetch("{ minimum: 1h }"))
    #expect(forecast.isThrough && forecast.rounds == 1 && forecast.requests == 1)
    #expect(forecast.simulatedUntil == forecast.endedAt)
  }

  @Test func `continues over further rounds, in which the interval of a fetch grows and shrinks`() throws {
    let day: (inout Forecaster.Setting) -> Void = {
      $0.length = .seconds(86_400)
      $0.continues = true
    }
    let unchanged = try forecast(fetch("{ minimum: 1h, maximum: 6h }"), day)
    #expect(hours(unchanged) == [0, 1, 3, 7, 13, 19])
    let fetches = try #require(unchanged.nodes[0].fetches)
    #expect(fetches.map(\.result) == [.newData, .noData, .noData, .noData, .noData, .noData])
    #expect(fetches.map(\.intervalSeconds) == [3600, 7200, 14_400, 21_600, 21_600, 21_600])
    #expect(unchanged.rounds == 6 && unchanged.launches == 6)
    // `seconds` is still the duration of the first round.
    #expect(unchanged.isThrough && unchanged.seconds < 60)
    #expect(unchanged.simulatedUntil == Self.start.advanced(by: .seconds(86_400)).rfc3339)

    // The document changes after 12 hours. The fetch after 13 hours gets the new document.
    let changing = try forecast(fetch("{ minimum: 1h, maximum: 6h }")) {
      day(&$0)
      $0.network.fetchChanges = .seconds(12 * 3600)
    }
    #expect(hours(changing) == [0, 1, 3, 7, 13, 14, 16, 20])
    #expect(changing.nodes[0].fetches?[4].result == .newData)
    #expect(changing.nodes[0].fetches?[4].intervalSeconds == 3600)
  }

  @Test func `continues at the launches of cron, and uses each day's budget`() throws {
    let policies = "budgets: { wifi: { limit: 3MB, per: day } }"
    let yaml = Yaml.put("    deliver: every_run\n", head: head(policies))
    let schedule = try CronSchedule("0 */6 * * *")
    let forecast = try forecast(yaml, files: 1) {
      $0.launches = .cron(schedule, .utc)
      $0.length = .seconds(3 * 86_400)
      $0.continues = true
    }
    // Each day has four launches of 1 MB, but its budget suffices for three. The first day, which begins at noon, has
    // two.
    #expect(forecast.launches == 12)
    #expect(forecast.budgets.map(\.usedBytes) == [2_000_000, 3_000_000, 3_000_000, 2_000_000])
    #expect(forecast.rounds == 10)
  }

  @Test func `counts the size of fetched documents against a budget`() throws {
    let policies = "budgets: { wifi: { limit: 100MB, per: day } }"
    let yaml = fetch("{ minimum: 1h }").replacing(head(""), with: head(policies))
    let forecast = try forecast(yaml) {
      $0.length = .seconds(2 * 86_400)
      $0.continues = true
      $0.network.fetchSize = 5_000_000
      $0.network.fetchChanges = .seconds(6 * 3600)
    }
    // The document is first fetched at 12:00, and changes at 18:00, 0:00 and so on.
    #expect(forecast.budgets.map(\.usedBytes) == [10_000_000, 20_000_000, 10_000_000])
  }

  @Test func `continues with the interval that the journal has`() throws {
    let plan = try Plan(yaml: fetch("{ minimum: 1h, maximum: 24h }"))
    let setting = setting {
      $0.length = .seconds(86_400)
      $0.continues = true
    }
    for (start, expected) in [
      (NodeStart.open, [0, 8]), (.notDue(until: Self.start.advanced(by: .seconds(7200))), [2, 10]),
      (
        .notDue(
          until: Self.start.advanced(by: .seconds(3600)),
          after: FailedFetch(at: Self.start, failure: nil, isOpen: false)), [1, 9]
      ),
    ] {
      var forecaster = Forecaster(
        plan, starts: [start], intervals: [NodeID(0): .seconds(4 * 3600)], delays: [:], foreground: [:],
        setting)
      #expect(hours(forecaster.forecast()) == expected)
    }
  }

  @Test func `asks a failing server again after the minimum`() throws {
    let forecast = try forecast(
      fetch("{ minimum: 2h }").replacing("save_to", with: "retry: { limit: 0 }, save_to")
    ) {
      $0.length = .seconds(6 * 3600)
      $0.continues = true
      $0.network.lossPercent = 100
    }
    #expect(hours(forecast) == [0, 2, 4] && !forecast.isThrough && forecast.rounds == 0)
    #expect(forecast.nodes[0].fetches?.allSatisfy { $0.result == .failed } == true)
    #expect(forecast.nodes[0].reason?.code == "connection_lost")
  }

  @Test func `ends if nothing becomes due, even if it may continue`() throws {
    let forecast = try forecast(Yaml.put(head: head(""))) { $0.continues = true }
    #expect(forecast.isThrough && forecast.launches == 1 && forecast.rounds == 1)
  }

  @Test func `reports starved nodes, and why they wait`() throws {
    let forecast = try forecast(
      Yaml.put(head: head("", session: "kind: background, allows_cellular: false"))
    ) {
      $0.conditions = DeviceConditions(network: .cellular)
      $0.length = .seconds(3 * 86_400)
    }
    #expect(!forecast.isThrough)
    #expect(forecast.nodes[0].state == .waiting)
    #expect(forecast.nodes[0].reason?.code == "network")
  }
}

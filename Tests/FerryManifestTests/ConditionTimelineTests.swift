import FerryManifest
import Testing

/// The file that is passed to `ferry plan --simulate --conditions`.
@Suite("A timeline of conditions")
struct ConditionTimelineTests {
  private func read(_ text: String) -> (timeline: ConditionTimeline?, told: [String]) {
    let (timeline, _, diagnostics) = ConditionTimeline.read(Array(text.utf8), file: "t.yaml")
    return (timeline, diagnostics.map { "\($0.location.line):\($0.location.column) \($0.message)" })
  }

  @Test func `has times of day and instants, and omits unchanged values`() throws {
    let (timeline, told) = read(
      """
      time_zone: Europe/Berlin
      timeline:
        - { from: 08:00, network: cellular, power: battery }
        - { from: 2026-12-24T18:00, network: wifi, expensive: true }
        - { from: 2026-12-24T18:00:30.5+01:00, network: none }
      """)
    #expect(told.isEmpty)
    let entries = try #require(timeline?.entries)
    #expect(timeline?.timeZone == "Europe/Berlin")
    #expect(entries.map(\.from) == ["08:00", "2026-12-24T18:00", "2026-12-24T18:00:30.5+01:00"])
    #expect(entries.map(\.network) == [.cellular, .wifi, ConditionTimeline.Network.none])
    #expect(entries.map(\.power) == [.battery, nil, nil])
    #expect(entries.map(\.isExpensive) == [nil, true, nil])
  }

  @Test func `has all its mistakes reported, with their locations`() {
    let (timeline, told) = read(
      """
      timeline:
        - { from: 25:00, network: wlan }
        - { network: wifi }
      zone: UTC
      """)
    #expect(timeline == nil)
    #expect(told.count == 4)
    #expect(told[0] == "2:13 '25:00' is neither a time of day nor a date and time")
    #expect(told[1].hasPrefix("2:29 "))
    #expect(told[2].contains("'from'"))
    #expect(told[3].hasPrefix("4:1 "))
  }

  @Test func `that is empty is rejected`() {
    #expect(read("").timeline == nil)
    #expect(read("timeline: []").timeline == nil)
  }
}

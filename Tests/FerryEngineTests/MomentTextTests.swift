import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine

struct MomentTextTests {
  /// A zone's transitions are determined for twelve years ahead. From 2250 on, these years exceed the range of an
  /// instant.
  @Test(arguments: [
    ("2255-01-01T00:00[Europe/Berlin]", "2254-12-31T23:00:00.000Z"),
    ("2262-04-12T01:47[Europe/Berlin]", "2262-04-11T23:47:00.000Z"),
    ("2262-04-11T20:47[America/New_York]", nil),
    ("1677-09-21T01:12[Europe/Berlin]", "1677-09-21T00:18:32.000Z"),
    ("2262-04-11T23:47:16Z", "2262-04-11T23:47:16.000Z"),
  ])
  func aMomentAtTheEndsOfTheRangeIsReadInItsZone(text: String, moment: String?) throws {
    guard let moment else {
      #expect(throws: UsageError.self) { try MomentText.read(text) }
      return
    }
    #expect(try MomentText.read(text).moment.rfc3339 == moment)
  }

  @Test(arguments: [
    "9999-12-31T23:59", "9999-12-31T23:59[Europe/Berlin]", "0000-01-01T00:00Z", "2262-04-11T23:47:17Z",
    "1677-09-21T00:12:42Z",
  ])
  func aMomentOutsideTheRangeIsRejectedWithTheRange(text: String) {
    #expect {
      try MomentText.read(text)
    } throws: { error in
      "\(error)"
        == "'\(text)' is outside the range of times that ferry supports\n"
        + "help: write a time from 1677-09-21T00:12:44Z to 2262-04-11T23:47:16Z"
    }
  }

  @Test(arguments: ["2026-02-31T00:00", "9999-12-31T23:59Z"])
  func aTimelineWithSuchAMomentIsRefused(from: String) throws {
    let text = "timeline: [{ from: \(from), network: wifi }]"
    let timeline = try #require(ConditionTimeline.read(Array(text.utf8), file: "t.yaml").timeline)
    #expect(throws: UsageError.self) { try MomentText.check(timeline, in: .utc) }
  }

  @Test func aTimelineOfTimesOfDayIsAccepted() throws {
    let text = "timeline: [{ from: 08:00, network: wifi }, { from: 2026-12-24T18:00, network: none }]"
    let timeline = try #require(ConditionTimeline.read(Array(text.utf8), file: "t.yaml").timeline)
    try MomentText.check(timeline, in: .utc)
  }

  /// A clock may show any time, for example in a container or with a library that overrides the clock.
  @Test(arguments: [Int64.min, .min + 1, -1, .max - 1, .max])
  func zonesAreKnownAroundEveryMoment(nanoseconds: Int64) throws {
    let moment = Instant(nanoseconds: nanoseconds)
    for name in ["Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe"] {
      let zone = try #require(CalendarZone(systemName: name, around: moment))
      #expect(zone.changes.allSatisfy { abs($0.offset) < 86_400 })
      #expect(MomentInvariants.shown(moment, in: zone) == [])
      #expect(MomentInvariants.windows(moment, in: zone) == [])
    }
  }
}

import ArgumentParser
import FerryEngine
import FerryPlan

/// How and when the launch would be that a command looks ahead to.
struct MomentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How the run would come about: foreground, background, fetch, event or continuous.", valueName: "kind"))
  var launch: LaunchKind?

  @Option(
    help: ArgumentHelp(
      "Look ahead to this moment: 2026-03-29T10:00, 2026-03-29T10:00:00+02:00 or "
        + "2026-03-29T10:00[Europe/Berlin]. By default now.",
      valueName: "moment"))
  var at: String?

  /// The moment, and the zone that moments are shown to people in.
  func moment() throws(UsageError) -> (moment: Instant, zone: CalendarZone) {
    guard let at else {
      let now = LaunchClock.wallTime
      return (now, .current(around: now))
    }
    let (moment, zone) = try MomentText.read(at)
    return (moment, zone ?? .current(around: moment))
  }
}

import ArgumentParser
import FerryEngine
import FerryPlan

/// The kind and the time of the future run that a command previews.
struct MomentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Kind of run to assume: foreground, background, fetch, event or continuous.", valueName: "kind"))
  var launch: LaunchKind?

  @Option(
    help: ArgumentHelp(
      "Time of the run to assume: 2026-03-29T10:00, 2026-03-29T10:00:00+02:00 or "
        + "2026-03-29T10:00[Europe/Berlin]. Default: now.",
      valueName: "time"))
  var at: String?

  /// The time, and the time zone of text output.
  func moment() throws(UsageError) -> (moment: Instant, zone: CalendarZone) {
    guard let at else {
      let now = LaunchClock.wallTime
      return (now, .current(around: now))
    }
    let (moment, zone) = try MomentText.read(at)
    return (moment, zone ?? .current(around: moment))
  }
}

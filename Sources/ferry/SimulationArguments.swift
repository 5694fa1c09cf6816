import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import FerrySimulation
import Foundation

/// Options of `ferry plan --simulate`: the assumed network, launches and conditions.
struct SimulationArguments: ParsableArguments {
  @Flag(help: "Simulate future runs on a virtual clock to forecast when all files will be delivered.")
  var simulate = false

  @Option(
    help: ArgumentHelp(
      "Bytes per second for all requests together. Default: the rate measured in the last runs.",
      valueName: "size"),
    transform: { try ByteCount(written: $0) })
  var bandwidth: ByteCount?

  @Option(
    help: ArgumentHelp("Time to a response, in addition to the transfer time.", valueName: "duration"),
    transform: { try Duration(written: $0) })
  var latency: Duration?

  @Option(
    help: ArgumentHelp("Percentage of requests whose connection fails.", valueName: "percent"))
  var loss: Double?

  @Option(
    help: ArgumentHelp("Size of each fetched document. Default: 0 bytes.", valueName: "size"),
    transform: { try ByteCount(written: $0) })
  var fetchSize: ByteCount?

  @Option(
    help: ArgumentHelp(
      "Interval at which fetched documents change. Default: a fetch has new data only the first time.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var fetchChanges: Duration?

  @Option(
    help: ArgumentHelp(
      "Start times of runs: a cron expression, or times separated by commas. Default: a single run that starts "
        + "now and waits.",
      valueName: "cron"))
  var launches: String?

  @Option(
    name: .customLong("conditions"),
    help: "A file that lists the network and power of the machine over time.",
    completion: .file(extensions: ["yaml", "yml"]))
  var timeline: String?

  @Option(
    help: ArgumentHelp(
      "Compare policies of the resume delay: none,before_start,after_completion.",
      valueName: "policies"))
  var compare: String?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Simulate this much time, including further rounds. Default: until the round is complete, at most 366 days.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var length: Duration?

  @Option(help: "Seed for the choice of failing connections and for the jitter of retries.")
  var seed: UInt64?

  func validate() throws {
    if let loss, !(0...100).contains(loss) { throw ValidationError("--loss must be between 0 and 100") }
    let isUsed =
      bandwidth != nil || latency != nil || loss != nil || launches != nil || timeline != nil
      || compare != nil
      || length != nil || seed != nil || fetchSize != nil || fetchChanges != nil
    if let fetchChanges, fetchChanges == .zero {
      throw ValidationError("--fetch-changes must be longer than 0")
    }
    if isUsed, !simulate { throw ValidationError("simulation options require --simulate") }
  }

  /// Returns the options for a simulation.
  ///
  /// - Parameter zone: the time zone for times without an offset.
  func options(around now: Instant, zone: CalendarZone) throws -> SimulationOptions {
    var options = SimulationOptions(zone: zone)
    if let timeline { (options.timeline, options.zone) = try readTimeline(timeline, around: now, zone) }
    options.bandwidth = bandwidth.map { Double($0.bytes) }
    options.latency = latency ?? .zero
    options.lossPercent = loss ?? 0
    options.launchesText = launches
    if let launches { options.launches = try schedule(launches, around: now, options.zone) }
    options.compare = try policies()
    options.fetchSize = fetchSize?.bytes ?? 0
    options.fetchChanges = fetchChanges
    if let length { (options.length, options.continues) = (length, true) }
    if let seed { options.seed = seed }
    return options
  }

  private func policies() throws(UsageError) -> [ResumeDelay.Policy] {
    var policies: [ResumeDelay.Policy] = []
    for word in compare?.split(separator: ",") ?? [] {
      guard let policy = ResumeDelay.Policy(rawValue: String(word)) else {
        let known = ResumeDelay.Policy.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(
          "--compare \(DisplayPath.shown(String(word))): unknown policy\nhelp: the policies are \(known)"
        )
      }
      policies.append(policy)
    }
    return policies
  }

  private func schedule(
    _ text: String, around now: Instant, _ zone: CalendarZone
  ) throws(UsageError) -> LaunchSchedule {
    let words = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    var moments: [Instant] = []
    for word in words {
      guard let moment = try MomentText.read(word, in: zone) else { break }
      moments.append(moment)
    }
    if !words.isEmpty, moments.count == words.count { return .moments(moments.sorted()) }
    do throws(CronError) {
      return .cron(try CronSchedule(text), zone)
    } catch {
      throw UsageError(
        "--launches '\(DisplayPath.shown(text))', column \(error.column): \(error.message)\nhelp: \(error.help)"
      )
    }
  }

  private func readTimeline(
    _ path: String, around now: Instant, _ local: CalendarZone
  ) throws -> (ConditionTimeline, CalendarZone) {
    let text = try Job.variables(path: path)
    let (timeline, source, diagnostics) = ConditionTimeline.read(text.bytes, file: path)
    if !diagnostics.isEmpty {
      Output.complain(
        DiagnosticFormatter(sources: [source], isColored: Output.isComplaintColored).text(diagnostics))
    }
    guard let timeline else {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
    var zone = local
    if let name = timeline.timeZone {
      guard let named = CalendarZone(systemName: name, around: now) else {
        throw UsageError("\(path): \(UnknownTimeZone(name).text)")
      }
      zone = named
    }
    do throws(UsageError) {
      try MomentText.check(timeline, in: zone)
    } catch {
      throw UsageError("\(path): \(error.description)")
    }
    return (timeline, zone)
  }
}

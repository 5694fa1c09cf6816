import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// `ferry plan --simulate`: the network, the launches and the machine of the time to come.
struct SimulationArguments: ParsableArguments {
  @Flag(help: "Turn the plan forward on a virtual clock: when everything will be there, and what that takes.")
  var simulate = false

  @Option(
    help: ArgumentHelp(
      "How many bytes a second all requests have together. By default what the last runs measured.",
      valueName: "size"),
    transform: { try ByteCount(written: $0) })
  var bandwidth: ByteCount?

  @Option(
    help: ArgumentHelp("How long an answer takes beside its bytes.", valueName: "duration"),
    transform: { try Duration(written: $0) })
  var latency: Duration?

  @Option(
    help: ArgumentHelp("Of how many requests in a hundred the connection breaks.", valueName: "percent"))
  var loss: Double?

  @Option(
    help: ArgumentHelp(
      "When launches begin: a cron expression, or moments with commas between. By default one, now, that waits.",
      valueName: "cron"))
  var launches: String?

  @Option(
    name: .customLong("conditions"),
    help: "A file that says what network and power the machine has, and when.",
    completion: .file(extensions: ["yaml", "yml"]))
  var timeline: String?

  @Option(
    help: ArgumentHelp(
      "Set policies of the resume delay side by side: none,before_start,after_completion.",
      valueName: "policies"))
  var compare: String?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How much time is simulated at most. By default 366 days.", valueName: "duration"),
    transform: { try Duration(written: $0) })
  var length: Duration?

  @Option(help: "What decides which requests are lost and how retries are spread.")
  var seed: UInt64?

  func validate() throws {
    if let loss, !(0...100).contains(loss) { throw ValidationError("--loss takes a number from 0 to 100") }
    let isUsed =
      bandwidth != nil || latency != nil || loss != nil || launches != nil || timeline != nil
      || compare != nil
      || length != nil || seed != nil
    if isUsed, !simulate { throw ValidationError("these options turn a plan forward; add --simulate") }
  }

  /// - Parameter zone: of times without an offset.
  func options(around now: Instant, zone: CalendarZone) throws -> SimulationOptions {
    var options = SimulationOptions(zone: zone)
    if let timeline { (options.timeline, options.zone) = try readTimeline(timeline, around: now, zone) }
    options.bandwidth = bandwidth.map { Double($0.bytes) }
    options.latency = latency ?? .zero
    options.lossPercent = loss ?? 0
    options.launchesText = launches
    if let launches { options.launches = try schedule(launches, around: now, options.zone) }
    options.compare = try policies()
    if let length { options.length = length }
    if let seed { options.seed = seed }
    return options
  }

  private func policies() throws(UsageError) -> [ResumeDelay.Policy] {
    var policies: [ResumeDelay.Policy] = []
    for word in compare?.split(separator: ",") ?? [] {
      guard let policy = ResumeDelay.Policy(rawValue: String(word)) else {
        let known = ResumeDelay.Policy.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(
          "--compare \(NameText.shown(String(word))): there is no such policy\nhelp: the policies are \(known)"
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
        "--launches '\(NameText.shown(text))', column \(error.column): \(error.message)\nhelp: \(error.help)")
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
        throw UsageError(
          "\(path): this machine has no time zone named \(name)\nhelp: install the package tzdata")
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

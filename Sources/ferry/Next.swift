import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry next`: says when a run would next have something to do.
struct Next: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say when a run would next have something to do.",
    discussion:
      "It looks at the files, the journals and the machine, as ferry plan does, and changes nothing.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case cron
  }

  @Argument(help: "The manifests.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String]

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var moment: MomentOptions

  @Option(help: "The form; cron is a line of a crontab(5) for each manifest.")
  var format = Format.text

  func run() throws {
    let (at, zone) = try moment.moment()
    let given = try variables.parsed()
    let files = try variables.texts()
    var found: [NextRun] = []
    for path in manifests {
      let job = try ManifestSource(path: path, variables: given, variableFiles: files).job()
      found.append(
        try Preview(
          job, state: state.state, network: conditions.network, power: conditions.power,
          launch: moment.launch ?? .background, at: at
        ).next())
    }
    switch format {
    case .text:
      for next in found {
        let text = NextText.text(next, in: zone)
        try Output.produce(manifests.count == 1 ? text + "\n" : "\(next.path): \(text)\n")
      }
    case .json:
      try Output.produce(try JSONText.pretty(NextRecord(at: at.rfc3339, manifests: found)))
    case .cron:
      for next in found { try produceLine(next, given, at) }
    }
  }

  private func produceLine(_ next: NextRun, _ given: [String: String], _ now: Instant) throws {
    guard let moment = next.moment else {
      return Output.complain("ferry: \(next.path): \(NextText.text(next, in: .utc))")
    }
    let line = CrontabLine(
      manifest: next.path,
      // Cron has no FERRY_STATE, and may have another XDG_STATE_HOME.
      state: state.state ?? ProcessInfo.processInfo.environment["FERRY_STATE"],
      variables: given, variableFiles: variables.variableFiles)
    // A line that is installed now must not be for the minute that has begun.
    let soonest = now.advanced(by: .seconds(60))
    let zone = CalendarZone.machine(around: moment)
    try Output.produce(try line.text(at: max(moment, soonest), in: zone) + "\n")
  }
}

/// What `ferry next --format json` writes; its keys are an interface.
private struct NextRecord: Encodable {
  var version = 1
  /// The moment that was looked at.
  var at: String
  var manifests: [NextRun]
}

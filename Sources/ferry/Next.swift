import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry next`: prints when a run would next have something to do.
struct Next: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "next",
    abstract: "Print when a run would next have something to do.",
    discussion:
      "Like ferry plan, this command inspects the files, the journals and the machine without changing anything."
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case cron
  }

  @Argument(help: "Manifests to inspect.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String]

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var moment: MomentOptions

  @Option(help: "Output format; cron prints a crontab(5) line for each manifest.")
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
      // cron does not set FERRY_STATE, so the line must contain the folder that this variable names.
      state: state.state ?? ProcessInfo.processInfo.environment["FERRY_STATE"],
      variables: given, variableFiles: variables.variableFiles)
    // cron would run a line for the current minute only a year later.
    let soonest = now.advanced(by: .seconds(60))
    let zone = CalendarZone.machine(around: moment)
    try Output.produce(try line.text(at: max(moment, soonest), in: zone) + "\n")
  }
}

/// The output of `ferry next --format json`. The JSON keys are a stable public interface.
private struct NextRecord: Encodable {
  var version = 1
  /// The time for which the preview is made.
  var at: String
  var manifests: [NextRun]
}

import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// `ferry explain`: explains a diagnostic code, or shows the state of a manifest's item.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain a diagnostic code, or show the state of an item and why it is waiting.",
    discussion: """
      An F with four digits, such as F0201, is a code. Any other argument is an item of the manifest given \
      with --manifest: the path of an upload's file, NODE/PATH, or the name of an upload, fetch or request.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "A code, such as F0201, or an item. Without an argument, all codes are listed.")
  var subject: String?

  @Option(help: "The manifest that contains the item.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String?

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var moment: MomentOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    guard let subject else {
      switch format {
      case .text: try Output.produce(DiagnosticReference.list())
      case .json: try Output.produce(try JSONText.pretty(DiagnosticCode.allCases.map(ExplanationRecord.init)))
      }
      return
    }
    guard let code = DiagnosticCode(written: subject) else {
      guard let manifest, !Self.isCode(subject) else { throw unknown(subject) }
      return try explain(subject, of: manifest)
    }
    switch format {
    case .text: try Output.produce(DiagnosticReference.text(code))
    case .json: try Output.produce(try JSONText.pretty(ExplanationRecord(code)))
    }
  }

  /// Whether the text has the form of a code: an F and four digits.
  private static func isCode(_ subject: String) -> Bool {
    subject.count == 5 && subject.uppercased().hasPrefix("F")
      && subject.utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private func explain(_ item: String, of manifest: String) throws {
    let (at, zone) = try moment.moment()
    let job = try ManifestSource(
      path: manifest, variables: variables.parsed(), variableFiles: variables.texts()
    ).job()
    let document = try ItemExplanation(
      job, state: state.state, network: conditions.network, power: conditions.power,
      launch: moment.launch ?? .background, at: at, environment: ProcessInfo.processInfo.environment
    ).explain(item)
    switch format {
    case .text: try Output.produce(ItemText.text(document, in: zone))
    case .json: try Output.produce(try JSONText.pretty(document))
    }
  }

  private func unknown(_ subject: String) -> UsageError {
    let codes = DiagnosticCode.allCases.map(\.rawValue)
    let help =
      DiagnosticCode.nearest(to: subject).map { "did you mean '\($0.rawValue)'?" }
      ?? "codes range from \(codes.first ?? "") to \(codes.last ?? ""); 'ferry explain' lists them"
    let item = manifest == nil && !Self.isCode(subject) ? "; an item requires --manifest FILE" : ""
    return UsageError("there is no code '\(DisplayPath.shown(subject))'\nhelp: \(help)\(item)")
  }
}

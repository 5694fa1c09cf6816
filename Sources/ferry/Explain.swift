import ArgumentParser
import FerryEngine
import FerryManifest
import Foundation

/// `ferry explain`: tells what a diagnostic's code means.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tell what a diagnostic's code means, with a wrong and a right manifest.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "A code, such as F0201; without one, all codes are listed.")
  var subject: String?

  @Option(help: "The form.")
  var format = Format.text

  func run() throws {
    guard let subject else {
      switch format {
      case .text: Output.produce(DiagnosticReference.list())
      case .json: Output.produce(try JSONText.pretty(DiagnosticCode.allCases.map(ExplanationRecord.init)))
      }
      return
    }
    guard let code = DiagnosticCode(written: subject) else { throw unknown(subject) }
    switch format {
    case .text: Output.produce(DiagnosticReference.text(code))
    case .json: Output.produce(try JSONText.pretty(ExplanationRecord(code)))
    }
  }

  private func unknown(_ subject: String) -> UsageError {
    let codes = DiagnosticCode.allCases.map(\.rawValue)
    let help =
      DiagnosticCode.nearest(to: subject).map { "did you mean '\($0.rawValue)'?" }
      ?? "codes go from \(codes.first ?? "") to \(codes.last ?? ""); 'ferry explain' lists them"
    return UsageError("there is no code '\(subject)'\nhelp: \(help)")
  }
}

import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// `ferry check`: says what is wrong with manifests, all of it at once.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Say what is wrong with manifests.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The manifests.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String]

  @Option(name: .customLong("var"), help: "Set a variable of the manifest: name=value. May be repeated.")
  var variables: [String] = []

  @Option(
    name: .customLong("vars-file"),
    help: "Take variables from this file, a mapping of names to texts. May be repeated.",
    completion: .file(extensions: ["yaml", "yml"]))
  var variableFiles: [String] = []

  @Option(help: "The form of what is said.")
  var format = Format.text

  func run() throws {
    var options = ManifestOptions()
    options.variables = variables
    let parsed = try options.parsedVariables()
    var records: [DiagnosticRecord] = []
    var isValid = true
    for path in manifests {
      let reading = try Job.read(
        path: path, variables: parsed, variableFiles: variableFiles,
        environment: ProcessInfo.processInfo.environment)
      if reading.job == nil { isValid = false }
      switch format {
      case .json: records += reading.diagnostics.map(DiagnosticRecord.init)
      case .text:
        if reading.diagnostics.isEmpty {
          Output.produce("\(path): ok\n")
        } else {
          Output.produce(DiagnosticFormatter(sources: reading.sources).text(reading.diagnostics))
        }
      }
    }
    if format == .json { Output.produce(try JSONText.pretty(records)) }
    if !isValid { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue) }
  }
}

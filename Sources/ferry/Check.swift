import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// `ferry check`: validates manifests, reports all errors at once, and lists the required external inputs.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "check", abstract: "Validate manifests.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case sarif
    case github
  }

  @Argument(help: "Manifests to validate.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String]

  @OptionGroup var variables: VariableOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let given = try variables.parsed()
    let files = try variables.texts()
    var readings: [(path: String, reading: Job.Reading)] = []
    for path in manifests {
      do {
        let source = ManifestSource(path: path, variables: given, variableFiles: files)
        readings.append((path, try source.reading()))
      } catch {
        // The other manifests are still validated.
        Output.complain("ferry: \(error)")
      }
    }
    if !readings.isEmpty { try produce(readings) }
    if readings.count < manifests.count {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.usage.rawValue)
    }
    if readings.contains(where: { $0.reading.job == nil }) {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
  }

  private func produce(_ readings: [(path: String, reading: Job.Reading)]) throws {
    let diagnostics = readings.flatMap(\.reading.diagnostics)
    let sources = readings.flatMap(\.reading.sources)
    switch format {
    case .text:
      try Output.produce(CheckText.text(readings))
    case .json:
      try Output.produce(
        try JSONText.pretty(CheckRecord(manifests: readings.map { .init($0.reading, path: $0.path) })))
    case .sarif:
      let log = SARIFLog(diagnostics, sources: sources, version: Ferry.version)
      try Output.produce(try JSONText.verbatim(log))
    case .github:
      try Output.produce(GitHubCommands(sources: sources).text(diagnostics))
    }
  }
}

import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// What every command that reads a manifest takes.
struct ManifestOptions: ParsableArguments {
  @Argument(help: "The manifest.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String

  @Option(name: .customLong("var"), help: "Set a variable of the manifest: name=value. May be repeated.")
  var variables: [String] = []

  @Option(
    name: .customLong("vars-file"),
    help: "Take variables from this file, a mapping of names to texts. May be repeated.",
    completion: .file(extensions: ["yaml", "yml"]))
  var variableFiles: [String] = []

  /// Reads the manifest; with an error in it every diagnostic is told and the process ends with 3.
  func read() throws -> Job {
    let reading = try Job.read(
      path: manifest, variables: try parsedVariables(), variableFiles: variableFiles,
      environment: ProcessInfo.processInfo.environment)
    if !reading.diagnostics.isEmpty {
      let formatter = DiagnosticFormatter(sources: reading.sources, isColored: Output.isComplaintColored)
      Output.complain(formatter.text(reading.diagnostics))
    }
    guard let job = reading.job else {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
    return job
  }

  func parsedVariables() throws -> [String: String] {
    var parsed: [String: String] = [:]
    for variable in variables {
      guard let equals = variable.firstIndex(of: "="), equals != variable.startIndex else {
        throw UsageError("--var \(variable): write it as name=value")
      }
      parsed[String(variable[..<equals])] = String(variable[variable.index(after: equals)...])
    }
    return parsed
  }
}

/// What every command that looks at the state takes.
struct StateOptions: ParsableArguments {
  @Option(
    help: "The state folder. By default $FERRY_STATE, or $XDG_STATE_HOME/ferry, or ~/.local/state/ferry.")
  var state: String?
}

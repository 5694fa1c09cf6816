import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// Options of a command that runs several manifests together.
struct ManifestsOptions: ParsableArguments {
  @Argument(help: "Manifests to run.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String] = []

  @OptionGroup var variables: VariableOptions

  /// Reads all manifests and prints their diagnostics.
  func read() throws -> Jobs {
    let given = try variables.parsed()
    let files = try variables.texts()
    var jobs: [Job] = []
    var invalid: ArgumentParser.ExitCode?
    for path in manifests {
      do {
        jobs.append(try ManifestSource(path: path, variables: given, variableFiles: files).job())
      } catch let code as ArgumentParser.ExitCode {
        invalid = code
      }
    }
    if let invalid { throw invalid }
    return try Jobs(jobs)
  }
}

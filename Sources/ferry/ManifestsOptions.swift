import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// What a command that carries several manifests out together takes.
struct ManifestsOptions: ParsableArguments {
  @Argument(help: "The manifests.", completion: .file(extensions: ["yaml", "yml"]))
  var manifests: [String]

  @OptionGroup var variables: VariableOptions

  /// Reads all of them, and tells what is wrong with any.
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

import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import FerryTransfer
import Foundation

/// Starts the commands that manifests specify.
///
/// A command receives a small environment (`ChildEnvironment`), without the variables from which the secrets of this
/// run are read.
struct CommandStart {
  /// The jobs, including those of manifests that have joined the run.
  var jobs: Jobs
  let state: StateDirectory
  /// The environment of this process.
  let environment: [String: String]
  let run: String

  /// Starts a command without waiting for its end, and returns its process ID.
  ///
  /// - Parameters:
  ///   - folder: the manifest's folder.
  ///   - variables: additional variables.
  func start(_ command: [String], in folder: String, variables: [String: String]) throws -> pid_t {
    var program = ChildProgram(
      path: try resolved(command[0], in: folder), arguments: Array(command.dropFirst()),
      environment: ChildEnvironment.variables(of: environment, withheld: secretVariables), folder: folder)
    program.environment.merge(variables) { $1 }
    program.environment["FERRY_RUN"] = run
    // The state folder's path may be relative, and the command runs in a different folder.
    program.environment["FERRY_STATE"] = AbsolutePath.text(of: state.path)
    // ferry's own standard output is reserved for the report.
    program.output = .standardError
    program.error = .standardError
    return try program.start()
  }

  /// The environment variables from which the secrets of this run are read.
  private var secretVariables: Set<String> {
    Set(
      jobs.all.flatMap(\.manifest.secrets).compactMap { secret in
        switch secret.source {
        case .environment(let name): name
        case .file: nil
        }
      })
  }

  /// Resolves a command's name, which must exist. A name with a slash is relative to the manifest's folder; any other name
  /// is searched for in PATH.
  private func resolved(_ name: String, in folder: String) throws(UsageError) -> String {
    guard let path = ChildProgram.path(of: name, in: folder, environment: environment) else {
      throw UsageError("it is not in PATH")
    }
    guard name.utf8.contains(UInt8(ascii: "/")) else { return path }
    do throws(FolderPath.Failure) {
      close(try FolderPath.file(Array(path.utf8), for: .looking))
      return path
    } catch {
      throw UsageError(error.reason)
    }
  }
}

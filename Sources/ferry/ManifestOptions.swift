import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// Options of commands that read one manifest.
struct ManifestOptions: ParsableArguments {
  @Argument(help: "The manifest.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String

  @OptionGroup var variables: VariableOptions

  func read() throws -> Job { try source().job() }

  func source() throws -> ManifestSource {
    ManifestSource(
      path: manifest, variables: try variables.parsed(), variableFiles: try variables.texts())
  }
}

/// Options that set a manifest's variables.
struct VariableOptions: ParsableArguments {
  @Option(name: .customLong("var"), help: "Set a manifest variable: name=value. May be repeated.")
  var variables: [String] = []

  @Option(
    name: .customLong("vars-file"),
    help: "Read variables from this YAML file, a mapping of names to strings. May be repeated.",
    completion: .file(extensions: ["yaml", "yml"]))
  var variableFiles: [String] = []

  /// Reads the variables files. Each file is read only once, because `<(…)` yields its text a single time.
  func texts() throws(UsageError) -> [SourceText] {
    var texts: [SourceText] = []
    for path in variableFiles { texts.append(try Job.variables(path: path)) }
    return texts
  }

  /// The values of `--var`, by name. If a name is given twice, the later value is used.
  func parsed() throws -> [String: String] {
    var parsed: [String: String] = [:]
    for variable in variables {
      let letters = variable.unicodeScalars
      guard let equals = letters.firstIndex(of: "="), equals != letters.startIndex else {
        throw UsageError("--var \(DisplayPath.shown(variable)): write it as name=value")
      }
      parsed[String(letters[..<equals])] = String(letters[letters.index(after: equals)...])
    }
    return parsed
  }
}

/// The option of commands that use the state folder.
struct StateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "State folder. Default: $FERRY_STATE if set, otherwise $XDG_STATE_HOME/ferry if set, otherwise ~/.local/state/ferry."
    ))
  var state: String?

  /// A `ferry` command line, quoted for a shell, that uses this state folder.
  ///
  /// - Parameter words: the words after `ferry`.
  func command(_ words: String...) throws -> String {
    try ShellCommand.line(words, state: state, environment: ProcessInfo.processInfo.environment)
  }
}

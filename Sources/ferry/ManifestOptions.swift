import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// What every command that reads one manifest takes.
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

/// What gives a manifest's variables their values.
struct VariableOptions: ParsableArguments {
  @Option(name: .customLong("var"), help: "Set a variable of the manifest: name=value. May be repeated.")
  var variables: [String] = []

  @Option(
    name: .customLong("vars-file"),
    help: "Take variables from this file, a mapping of names to texts. May be repeated.",
    completion: .file(extensions: ["yaml", "yml"]))
  var variableFiles: [String] = []

  /// The files of variables. Each is read once, whatever reads it then: `<(…)` gives its text a single time.
  func texts() throws(UsageError) -> [SourceText] {
    var texts: [SourceText] = []
    for path in variableFiles { texts.append(try Job.variables(path: path)) }
    return texts
  }

  /// `--var` by name; of two of one name the later.
  func parsed() throws -> [String: String] {
    var parsed: [String: String] = [:]
    for variable in variables {
      let letters = variable.unicodeScalars
      guard let equals = letters.firstIndex(of: "="), equals != letters.startIndex else {
        throw UsageError("--var \(NameText.shown(variable)): write it as name=value")
      }
      parsed[String(letters[..<equals])] = String(letters[letters.index(after: equals)...])
    }
    return parsed
  }
}

/// What every command that looks at the state takes.
struct StateOptions: ParsableArguments {
  @Option(
    help: "The state folder. By default $FERRY_STATE, or $XDG_STATE_HOME/ferry, or ~/.local/state/ferry.")
  var state: String?

  /// A command for a person to paste, with this state folder.
  ///
  /// - Parameter words: behind `ferry`.
  func command(_ words: String...) throws -> String {
    try PastedCommand.line(words, state: state, environment: ProcessInfo.processInfo.environment)
  }
}

import FerryJournal

/// A command of ferry's for a person to paste.
package enum ShellCommand {
  /// Good in any folder: it names the state folder, where ferry would not find that by itself.
  ///
  /// - Parameters:
  ///   - words: behind `ferry`.
  ///   - state: what `--state` named.
  package static func line(
    _ words: [String], state: String?, environment: [String: String]
  ) throws -> String {
    try StateDirectory(explicit: state, environment: environment).command(words)
  }
}

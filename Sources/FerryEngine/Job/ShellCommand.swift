import FerryJournal

/// A ferry command that a person can paste into a shell.
package enum ShellCommand {
  /// A command line that works in any folder. It includes the state folder if ferry would not find it by
  /// default.
  ///
  /// - Parameters:
  ///   - words: the words after `ferry`.
  ///   - state: the value of `--state`.
  package static func line(
    _ words: [String], state: String?, environment: [String: String]
  ) throws -> String {
    try StateDirectory(explicit: state, environment: environment).command(words)
  }
}

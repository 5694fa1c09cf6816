import ArgumentParser
import FerryEngine
import FerryManifest

/// Checks that the command line begins with the name of a command.
///
/// If the first word is not the name of a command, ArgumentParser reports all words as unexpected arguments.
enum CommandName {
  /// Checks the names of the command and of its subcommand.
  ///
  /// - Parameter arguments: without the program's name.
  /// - Throws: `UsageError` if a word in the place of a command is not the name of a command.
  static func check(_ arguments: [String]) throws(UsageError) {
    var command: any ParsableCommand.Type = Ferry.self
    var path = [Ferry._commandName]
    for word in arguments {
      let commands = command.configuration.subcommands
      guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
      guard let named = commands.first(where: { $0._commandName == word }) else {
        // The word is an argument of the default subcommand.
        guard command.configuration.defaultSubcommand == nil else { return }
        let known = commands.map { $0._commandName }
        let path = path.joined(separator: " ")
        throw UsageError(
          "\(path) has no command \(word.quoted)\n"
            + "help: \(NearestName.suggestion(for: word, among: known).map { $0 + " " } ?? "")"
            + "'\(path) --help' lists the commands")
      }
      command = named
      path.append(word)
    }
  }
}

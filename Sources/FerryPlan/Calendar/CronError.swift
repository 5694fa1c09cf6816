/// Why a text is not a cron expression, for users.
package struct CronError: Error, Equatable, CustomStringConvertible {
  /// The start of the error, in characters of the expression, counted from 1. If something is missing at the
  /// end, it is one after the last character.
  package var column: Int
  /// What is wrong, as a sentence without its period: "`61` is no minute".
  package var message: String
  /// What is allowed there.
  package var help: String

  package init(column: Int, message: String, help: String) {
    self.column = column
    self.message = message
    self.help = help
  }

  package var description: String { "column \(column): \(message)\nhelp: \(help)" }
}

/// The reason why a string is not a valid cron expression.
package struct CronError: Error, Equatable, CustomStringConvertible {
  /// The start of the error, in characters of the expression, counted from 1. If something is missing at the
  /// end, the column is one past the last character.
  package var column: Int
  /// A description of the error, such as "`61` is not a valid minute", without a period.
  package var message: String
  /// The allowed forms.
  package var help: String

  package init(column: Int, message: String, help: String) {
    self.column = column
    self.message = message
    self.help = help
  }

  package var description: String { "column \(column): \(message)\nhelp: \(help)" }
}

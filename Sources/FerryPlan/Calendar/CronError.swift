/// Why a text is no cron expression, for people.
package struct CronError: Error, Equatable, CustomStringConvertible {
  /// Where the mistake begins: in characters of the expression, from 1. One behind the last where something
  /// is missing at the end.
  package var column: Int
  /// What is wrong, as a sentence without its end: "`61` is no minute".
  package var message: String
  /// What can stand there.
  package var help: String

  package init(column: Int, message: String, help: String) {
    self.column = column
    self.message = message
    self.help = help
  }

  package var description: String { "column \(column): \(message)\nhelp: \(help)" }
}

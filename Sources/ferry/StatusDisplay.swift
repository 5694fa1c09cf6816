import FerryReport
import Foundation

/// Shows successive states of `ferry status --follow`: at a terminal in place of the previous one, cut to the size of the
/// terminal; elsewhere one after another.
struct StatusDisplay {
  private let isTerminal = isatty(STDOUT_FILENO) != 0
  /// What was shown last.
  private var last: String?

  /// Shows the state if it differs from the one that was shown last, or if the terminal has another size.
  ///
  /// - Parameter key: what is compared.
  mutating func show(_ text: String, key: String, isLast: Bool) throws {
    var (output, compared) = (text, key)
    if isTerminal {
      let size = TerminalSize(of: STDOUT_FILENO)
      let lines = ProgressText.screen(text, columns: size.columns, rows: size.rows)
      // Each line erases what remains of the previous state in it; the last sequence erases the lines below.
      output =
        (last == nil ? "\u{1B}[2J" : "") + "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
      compared = "\(size) \(compared)"
      // What remains on the screen is complete.
      if isLast { output = "\u{1B}[H\u{1B}[J" + text }
    }
    guard compared != last || isLast && isTerminal else { return }
    last = compared
    try Output.export(Array(output.utf8))
  }
}

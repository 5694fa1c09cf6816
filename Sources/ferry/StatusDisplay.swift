import FerryReport
import Foundation

/// Shows the successive states of `ferry status --follow`. At a terminal, each state replaces the previous one and is
/// cut to the size of the terminal; elsewhere, the states follow one another.
struct StatusDisplay {
  private let isTerminal = isatty(STDOUT_FILENO) != 0
  /// The state that was shown last.
  private var last: String?

  /// Shows the state if it differs from the one that was shown last, or if the terminal has another size.
  ///
  /// - Parameter key: the part of the state that is compared.
  mutating func show(_ text: String, key: String, isLast: Bool) throws {
    var (output, compared) = (text, key)
    if isTerminal {
      let size = TerminalSize(of: STDOUT_FILENO)
      let lines = ProgressText.screen(text, columns: size.columns, rows: size.rows)
      // Each line erases the rest of the previous state in its row; the last sequence erases the rows below.
      output =
        (last == nil ? "\u{1B}[2J" : "") + "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
      compared = "\(size) \(compared)"
      // The last state is shown in full, because it remains on the screen.
      if isLast { output = "\u{1B}[H\u{1B}[J" + text }
    }
    guard compared != last || isLast && isTerminal else { return }
    last = compared
    try Output.export(Array(output.utf8))
  }
}

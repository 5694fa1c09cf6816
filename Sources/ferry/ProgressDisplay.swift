import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// The progress of a run. At a terminal, the display consists of a line for the whole run and a line for each of the
/// requests that have taken longest, and is redrawn in place at most ten times a second. Elsewhere, a line is printed
/// from time to time.
final class ProgressDisplay {
  private let isQuiet: Bool
  private let isTerminal: Bool
  /// The interval that the user has chosen; `nil` for the default.
  private let chosen: Duration?
  private let interval: Duration
  private let started = ContinuousClock.now
  private var next: ContinuousClock.Instant
  /// The lines that the terminal shows.
  private var shown: [String] = []
  private var last: ProgressText.Figures?

  /// The largest number of lines for requests.
  private static let mostRequests = 6

  init(isQuiet: Bool, interval: Duration?) {
    self.isQuiet = isQuiet
    isTerminal = Output.isErrorTerminal
    chosen = interval
    self.interval = isTerminal ? .milliseconds(100) : interval ?? .seconds(30)
    next = .now + (isTerminal ? .milliseconds(200) : self.interval)
  }

  /// The interval at which the display needs the progress; `nil` if it shows nothing.
  var refresh: Duration? { isQuiet ? nil : interval }

  /// - Parameters:
  ///   - progress: returns the progress; called only if a line is due.
  ///   - details: returns the parts that are needed only for a line.
  func show(_ progress: () -> Launch.Progress, _ details: (Int) -> Launch.ProgressDetails) {
    guard !isQuiet else { return }
    if !isTerminal, chosen != nil, last == nil {
      let progress = progress()
      last = figures(progress, details(0))
      let least = progress.isListing ? "at least " : ""
      Output.complain("ferry: started with \(least)\(Count.text(progress.open, "item"))")
    }
    guard ContinuousClock.now >= next else { return }
    next = .now + interval
    let progress = progress()
    guard isTerminal else {
      let now = figures(progress, details(0))
      last = now
      return Output.complain("ferry: \(ProgressText.line(now))")
    }
    let size = TerminalSize(of: STDERR_FILENO)
    let details = details(max(0, min(Self.mostRequests, size.rows - 2)))
    let columns = size.columns - 1
    draw(
      [ProgressText.line(figures(progress, details), columns: columns)]
        + details.active.map { ProgressText.line($0, columns: columns) }, columns: size.columns)
  }

  private func figures(_ progress: Launch.Progress, _ details: Launch.ProgressDetails) -> ProgressText.Figures
  {
    ProgressText.Figures(
      done: progress.done, open: progress.open, isListing: progress.isListing, failed: details.failed,
      bytes: progress.bytes, seconds: started.duration(to: .now).seconds, pause: details.pause)
  }

  private func draw(_ lines: [String], columns: Int) {
    // A terminal may become narrower before the system reports the new size. Lines that do not fit are then cut and not
    // wrapped (DECAWM), so that the frame still has as many rows as `erasure` computes.
    Output.draw(erasure(columns) + "\u{1B}[?7l" + lines.joined(separator: "\n") + "\u{1B}[?7h")
    shown = lines
  }

  /// Moves the cursor to the first line that is shown, and erases everything below it. If the terminal has become
  /// narrower, it has wrapped these lines.
  private func erasure(_ columns: Int) -> String {
    guard !shown.isEmpty else { return "" }
    let rows = shown.reduce(0) { $0 + max(1, (ProgressText.width($1) + columns - 1) / columns) }
    return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
  }

  /// Erases the lines, so that something else can be printed.
  func clear() {
    guard !shown.isEmpty else { return }
    Output.draw(erasure(TerminalSize(of: STDERR_FILENO).columns))
    shown = []
  }

  /// Prints the last line of a run whose standard error is not a terminal.
  func end() {
    clear()
    guard !isQuiet, !isTerminal, chosen != nil, last != nil else { return }
    Output.complain("ferry: ended after \(ElapsedText.text(started.duration(to: .now).seconds))")
  }
}

import FerryEngine
import FerryPlan
import Foundation

/// The progress of a run: a line that is updated in place at a terminal, or a new line every 30 seconds
/// elsewhere.
final class ProgressLine {
  private let isQuiet: Bool
  private let isTerminal = Output.isErrorTerminal
  private let started = ContinuousClock.now
  private var next: ContinuousClock.Instant
  private var isShown = false

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
    next = .now + (Output.isErrorTerminal ? .milliseconds(200) : .seconds(30))
  }

  func show(_ progress: Launch.Progress) {
    guard !isQuiet, ContinuousClock.now >= next else { return }
    next = .now + (isTerminal ? .milliseconds(200) : .seconds(30))
    let elapsed = started.duration(to: .now)
    let seconds = max(
      0.001, Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18)
    let total = progress.done + progress.open
    var text = "\(progress.done) of \(total) items, \(ByteText.text(progress.bytes))"
    text += ", \(ByteText.text(Int64(clamping: Double(progress.bytes) / seconds)))/s"
    if progress.done > 0, progress.open > 0 {
      text +=
        ", \(Int64(clamping: (seconds / Double(progress.done) * Double(progress.open)).rounded(.up))) s left"
    }
    if isTerminal {
      Output.draw("\r\u{1B}[2K\(text)")
      isShown = true
    } else {
      Output.complain("ferry: \(text)")
    }
  }

  func clear() {
    if isShown { Output.draw("\r\u{1B}[2K") }
    isShown = false
  }
}

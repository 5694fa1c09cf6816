import FerryProcess

/// Receives signals after the work of a run has ended, so that they end its waits but not the process before the run
/// has written its report.
final class SignalsAtEnd {
  private var sources: RunEventSources?
  private let messages: Mailbox<RunMessage>

  /// - Parameter sources: the event sources of the run, which post signals to `messages`.
  init(_ sources: RunEventSources, _ messages: Mailbox<RunMessage>) {
    (self.sources, self.messages) = (sources, messages)
  }

  /// Whether a signal has arrived that the run has not handled.
  ///
  /// This includes SIGHUP in a launch with an execution window, which lets the work continue: there is none left.
  func hasArrived() -> Bool { messages.contains(where: \.isSignal) }

  /// From now on, signals terminate the process.
  func release() { sources = nil }
}

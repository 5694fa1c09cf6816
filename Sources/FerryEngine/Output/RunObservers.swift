import FerryPlan
import FerryReport

/// Passes the events of a run to the log, the event stream and standard error.
///
/// An event is encoded at once: passing it to another thread would take longer. The encoded events are collected until
/// `flush`, which the run calls before it waits for its requests, and other threads write them.
package final class RunObservers {
  private let log: EventWriter?
  private let stream: EventWriter?
  private let trace: EventWriter?
  private let verbosity: Int
  /// The collected events in each format that a file has.
  private let text: EventLines?
  private let json: EventLines?
  private var exchanges = EncodedEvents()
  /// The time of the last event.
  private var time = TimeText()

  /// The size in bytes at which the collected events are queued before `flush`.
  fileprivate static let most = 64 << 10

  /// - Parameters:
  ///   - stream: the writer of `--events`.
  ///   - verbosity: the number of `-v`.
  package init(
    log: EventWriter?, logFormat: EventFormat, stream: EventWriter?, trace: EventWriter?, verbosity: Int
  ) {
    (self.log, self.stream, self.trace, self.verbosity) = (log, stream, trace, verbosity)
    switch logFormat {
    case .text:
      text = EventLines(.text, [log])
      json = EventLines(.json, [stream])
    case .json:
      text = nil
      json = EventLines(.json, [log, stream])
    }
  }

  package var isNeeded: Bool { log != nil || stream != nil || verbosity > 0 }

  /// Whether requests are traced.
  package var isTracing: Bool { trace != nil }

  /// - Parameter complain: prints a line to standard error.
  package func take(_ event: borrowing RunEvent, complain: (String) -> Void) {
    let at = event.at
    time.set(at)
    text?.append(event, at, time)
    json?.append(event, at, time)
    if verbosity > 1 || verbosity > 0 && event.isNotable { complain(EventText.text(event)) }
  }

  /// Adds a request to the trace.
  package func take(_ entry: HAREntry) {
    exchanges.append(at: entry.startedAt) { bytes in
      bytes.append(HARText.separator)
      bytes.append(entry.json)
    }
    if exchanges.bytes.count >= Self.most { flushTrace() }
  }

  /// Queues the collected events.
  package func flush() {
    text?.flush()
    json?.flush()
    flushTrace()
  }

  private func flushTrace() {
    guard !exchanges.isEmpty else { return }
    trace?.write(exchanges)
    exchanges.removeAll()
  }

  /// Waits for the files to be written.
  ///
  /// - Returns: messages about what is missing in the files.
  package func finish() -> [String] {
    flush()
    // The files are written at the same time, and share one time limit.
    log?.close()
    stream?.close()
    trace?.close()
    let problems = [
      ("the log is", log?.finish()), ("the events are", stream?.finish()), ("the trace is", trace?.finish()),
    ]
    return problems.compactMap { name, problem in problem.map { "\(name) incomplete: \($0)" } }
  }
}

/// Collected events in one format, and the files that receive them.
private final class EventLines {
  private let format: EventFormat
  private let writers: [EventWriter]
  private var lines = EncodedEvents()

  /// Returns `nil` if no file has the format.
  init?(_ format: EventFormat, _ files: [EventWriter?]) {
    self.format = format
    writers = files.compactMap(\.self)
    if writers.isEmpty { return nil }
  }

  func append(_ event: borrowing RunEvent, _ at: Instant, _ time: TimeText) {
    lines.append(at: at) { format.append(event, time, to: &$0) }
    if lines.bytes.count >= RunObservers.most { flush() }
  }

  func flush() {
    guard !lines.isEmpty else { return }
    for writer in writers { writer.write(lines) }
    lines.removeAll()
  }
}

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
  private var events: [EventLines] = []
  private var exchanges = EncodedEvents()

  /// The size in bytes at which the collected events are queued before `flush`.
  private static let most = 64 << 10

  /// - Parameters:
  ///   - stream: the writer of `--events`.
  ///   - verbosity: the number of `-v`.
  package init(
    log: EventWriter?, logFormat: EventEncoder.Format, stream: EventWriter?, trace: EventWriter?,
    verbosity: Int
  ) {
    (self.log, self.stream, self.trace, self.verbosity) = (log, stream, trace, verbosity)
    let files = [(log, logFormat), (stream, .json)]
    for format in [EventEncoder.Format.text, .json] {
      let writers = files.compactMap { $1 == format ? $0 : nil }
      if !writers.isEmpty { events.append(EventLines(format, writers)) }
    }
  }

  package var isNeeded: Bool { !events.isEmpty || verbosity > 0 }

  /// Whether requests are traced.
  package var isTracing: Bool { trace != nil }

  /// - Parameter complain: prints a line to standard error.
  package func take(_ event: borrowing RunEvent, complain: (String) -> Void) {
    for lines in events {
      lines.append(event)
      if lines.size >= Self.most { lines.flush() }
    }
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
    for lines in events { lines.flush() }
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
  private var encoder: EventEncoder
  private var lines = EncodedEvents()
  private let writers: [EventWriter]

  init(_ format: EventEncoder.Format, _ writers: [EventWriter]) {
    encoder = EventEncoder(format)
    self.writers = writers
  }

  var size: Int { lines.bytes.count }

  func append(_ event: borrowing RunEvent) {
    lines.append(at: event.at) { encoder.append(event, to: &$0) }
  }

  func flush() {
    guard !lines.isEmpty else { return }
    for writer in writers { writer.write(lines) }
    lines.removeAll()
  }
}

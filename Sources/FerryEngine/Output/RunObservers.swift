import FerryPlan
import FerryReport

/// Passes the events of a run to the log, the event stream and standard error.
///
/// The events are collected until `flush`, which the run calls before it waits for its requests. They are encoded by the
/// threads that write them.
package final class RunObservers {
  private let log: EventWriter<RunEvent>?
  private let stream: EventWriter<RunEvent>?
  private let trace: EventWriter<HAREntry>?
  private let verbosity: Int
  private var events = EventBatch<RunEvent>()
  private var exchanges = EventBatch<HAREntry>()

  /// The size in bytes at which the collected events are queued before `flush`.
  private static let most = 64 << 10

  /// - Parameters:
  ///   - stream: the writer of `--events`.
  ///   - verbosity: the number of `-v`.
  package init(
    log: EventWriter<RunEvent>?, stream: EventWriter<RunEvent>?, trace: EventWriter<HAREntry>?, verbosity: Int
  ) {
    (self.log, self.stream, self.trace, self.verbosity) = (log, stream, trace, verbosity)
  }

  package var isNeeded: Bool { log != nil || stream != nil || verbosity > 0 }

  /// Whether requests are traced.
  package var isTracing: Bool { trace != nil }

  /// - Parameter complain: prints a line to standard error.
  package func take(_ event: RunEvent, complain: (String) -> Void) {
    events.append(event, size: event.memorySize)
    if events.size >= Self.most { flush() }
    if verbosity > 1 || verbosity > 0 && event.isNotable { complain(EventText.text(event)) }
  }

  /// Adds a request to the trace.
  package func take(_ entry: HAREntry) {
    exchanges.append(entry, size: entry.memorySize)
    if exchanges.size >= Self.most { flush() }
  }

  /// Queues the collected events.
  package func flush() {
    if !events.events.isEmpty {
      log?.write(events)
      stream?.write(events)
      events = EventBatch()
    }
    guard !exchanges.events.isEmpty else { return }
    trace?.write(exchanges)
    exchanges = EventBatch()
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

import FerryEngine
import FerryPlan
import FerryReport

/// Passes the events of a run to the log, the event stream and standard error.
///
/// The lines are collected until `flush`, which the run calls before it waits for its requests.
final class RunObservers {
  private var log: EventLines?
  private let logFormat: ObservationOptions.LogFormat
  private var events: EventLines?
  private var trace: EventLines?
  private let verbosity: Int
  private var time = TimeText(Instant(nanoseconds: 0))

  init(
    log: EventWriter?, logFormat: ObservationOptions.LogFormat, events: EventWriter?, trace: EventWriter?,
    verbosity: Int
  ) {
    self.log = log.map(EventLines.init)
    self.logFormat = logFormat
    self.events = events.map(EventLines.init)
    self.trace = trace.map(EventLines.init)
    self.verbosity = verbosity
  }

  /// Whether anything needs the events.
  var isNeeded: Bool { log != nil || events != nil || verbosity > 0 }

  /// Whether requests are traced.
  var isTracing: Bool { trace != nil }

  /// - Parameter complain: prints a line to standard error.
  func take(_ event: RunEvent, complain: (String) -> Void) {
    time.set(event.at)
    events?.add { EventJSON.append(event, at: time, to: &$0) }
    switch logFormat {
    case .text: log?.add { EventText.append(event, at: time, to: &$0) }
    case .json: log?.add { EventJSON.append(event, at: time, to: &$0) }
    }
    if verbosity > 1 || verbosity > 0 && event.isNotable { complain(EventText.text(event)) }
  }

  /// Adds a request to the trace.
  func take(_ entry: HAREntry) { trace?.add { $0 += HARText.separator + entry.json } }

  /// Lets the collected lines be written.
  func flush() {
    events?.flush()
    log?.flush()
    trace?.flush()
  }

  /// Waits for the files to be written.
  ///
  /// - Returns: messages about what is missing in the files.
  func finish() -> [String] {
    let problems = [
      ("the log is", log?.finish()), ("the events are", events?.finish()), ("the trace is", trace?.finish()),
    ]
    return problems.compactMap { name, problem in problem.map { "\(name) incomplete: \($0)" } }
  }
}

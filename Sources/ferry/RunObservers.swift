import FerryEngine
import FerryPlan
import FerryReport

/// Passes the events of a run to the log, the event stream and standard error.
struct RunObservers {
  let log: EventWriter?
  let logFormat: ObservationOptions.LogFormat
  let events: EventWriter?
  let trace: EventWriter?
  let verbosity: Int

  /// Whether anything needs the events.
  var isNeeded: Bool { log != nil || events != nil || verbosity > 0 }

  /// - Parameter complain: prints a line to standard error.
  func take(_ event: RunEvent, complain: (String) -> Void) {
    events?.write { EventJSON.append(event, to: &$0) }
    switch logFormat {
    case .text: log?.write { EventText.append(event, to: &$0) }
    case .json: log?.write { EventJSON.append(event, to: &$0) }
    }
    if verbosity > 1 || verbosity > 0 && event.isNotable { complain(EventText.text(event)) }
  }

  /// Adds a request to the trace.
  func take(_ entry: HAREntry) { trace?.write { $0 += HARText.separator + entry.json } }

  /// Waits for the files to be written.
  ///
  /// - Returns: messages about what is missing in the files.
  func finish() -> [String] {
    [(log, "the log is"), (events, "the events are"), (trace, "the trace is")].compactMap { writer, name in
      writer?.finish().map { "\(name) incomplete: \($0)" }
    }
  }
}

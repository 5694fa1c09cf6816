import FerryPlan
import FerryProcess
import FerryReport

extension EventWriter where Event == RunEvent {
  /// - Parameter descriptor: the descriptor to write to, which stays open.
  package convenience init(_ descriptor: Int32, _ format: Format) throws(ThreadUnavailable) {
    try self.init(format, thread: "ferry-events-out") { bytes, _ in
      AtomicWrite.failure(of: bytes, to: descriptor)
    }
  }
}

extension EventWriter.Format where Event == RunEvent {
  /// Lines for people.
  package static var text: Self { Self(append: { EventText.append($0, to: &$1) }, dropped: dropped) }

  /// NDJSON.
  package static var json: Self { Self(append: { EventJSON.append($0, to: &$1) }, dropped: dropped) }

  private static func dropped(_ count: Int, _ last: RunEvent) -> RunEvent? {
    .dropped(at: last.at, count: count)
  }
}

extension EventWriter where Event == HAREntry {
  /// Writes the entries of a trace.
  package convenience init(_ file: TraceFile) throws(ThreadUnavailable) {
    let format = Format(
      append: { entries, bytes in
        for entry in entries {
          bytes.append(HARText.separator)
          bytes.append(entry.json)
        }
      }, dropped: { _, _ in nil })
    try self.init(format, thread: "ferry-trace-out", put: { file.append(Array($0), count: $1) }, problem: { file.problem })
  }
}

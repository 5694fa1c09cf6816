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
  package static var text: Self {
    Self(
      append: { batches, buffer in
        var time = TimeText()
        for batch in batches { EventText.append(batch.events, after: &time, to: &buffer) }
      }, dropped: dropped)
  }

  /// NDJSON.
  package static var json: Self {
    Self(
      append: { batches, buffer in
        var time = TimeText()
        for batch in batches { EventJSON.append(batch.events, after: &time, to: &buffer) }
      }, dropped: dropped)
  }

  private static func dropped(_ count: Int, _ last: RunEvent) -> RunEvent? {
    .dropped(at: last.at, count: count)
  }
}

extension EventWriter where Event == HAREntry {
  /// Writes the entries of a trace.
  package convenience init(_ file: TraceFile) throws(ThreadUnavailable) {
    let format = Format(
      append: { batches, buffer in
        for batch in batches {
          for entry in batch.events {
            buffer.append(HARText.separator)
            buffer.append(entry.json)
          }
        }
      }, dropped: { _, _ in nil })
    try self.init(
      format, thread: "ferry-trace-out", put: { file.append(Array($0), count: $1) }, problem: { file.problem }
    )
  }
}

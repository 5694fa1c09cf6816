import FerryPlan
import FerryProcess
import FerryReport

extension EventWriter {
  /// Writes the events of a run.
  ///
  /// - Parameters:
  ///   - descriptor: the descriptor to write to, which stays open.
  ///   - format: the format in which the events are encoded.
  package convenience init(_ descriptor: Int32, _ format: EventFormat) throws(ThreadUnavailable) {
    try self.init(
      thread: "ferry-events-out",
      encodeDropped: { count, last, bytes in
        format.append(.dropped(at: last, count: count), TimeText(last), to: &bytes)
      }, put: { bytes, _ in AtomicWrite.failure(of: bytes, to: descriptor) })
  }

  /// Writes the entries of a trace.
  package convenience init(_ file: TraceFile) throws(ThreadUnavailable) {
    try self.init(
      thread: "ferry-trace-out", put: { file.append(Array($0), count: $1) }, problem: { file.problem })
  }
}

import FerryPlan

/// The formats in which the events of a run are written.
package enum EventFormat: String, CaseIterable, Sendable {
  /// Lines for people.
  case text
  /// NDJSON.
  case json

  /// Appends an event as a line.
  ///
  /// - Parameter time: the time of the event.
  package func append(_ event: borrowing RunEvent, _ time: TimeText, to lines: inout ByteBuffer) {
    switch self {
    case .text: EventText.append(event, time, to: &lines)
    case .json: EventJSON.append(event, time, to: &lines)
    }
    lines.append(UInt8(ascii: "\n"))
  }
}

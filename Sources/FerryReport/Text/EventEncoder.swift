import FerryPlan

/// Encodes the events of a run, one after another.
package struct EventEncoder: Sendable {
  package enum Format: Sendable {
    /// Lines for people.
    case text
    /// NDJSON.
    case json
  }

  private let format: Format
  /// The time of the previous event.
  private var time = TimeText()

  package init(_ format: Format) { self.format = format }

  /// Appends an event as a line.
  package mutating func append(_ event: borrowing RunEvent, to lines: inout ByteBuffer) {
    time.set(event.at)
    switch format {
    case .text: EventText.append(event, time, to: &lines)
    case .json: EventJSON.append(event, time, to: &lines)
    }
    lines.append(UInt8(ascii: "\n"))
  }
}

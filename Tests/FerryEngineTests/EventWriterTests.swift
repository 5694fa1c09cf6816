import FerryPlan
import FerryReport
import Foundation
import Testing

@testable import FerryEngine

/// Writing events on a thread, to readers of different speeds.
struct EventWriterTests {
  private struct Line: Decodable {
    var type: String
    var at: String
    var path: String?
    var events: Int?
  }

  /// A request whose event occupies at least a number of bytes.
  private func event(_ number: Int, size: Int = 0) -> RunEvent {
    let name = "\(number)-" + String(repeating: "x", count: size)
    return .request(
      RunEvent.Request(
        at: Instant(nanoseconds: Int64(number) * 1_000_000), node: "files", path: Array(name.utf8)[...],
        step: .transfer,
        status: 201, bytes: 1, duration: .milliseconds(1)))
  }

  private func batch(_ numbers: some Sequence<Int>, size: Int = 0) -> EncodedEvents {
    var events = EncodedEvents()
    for number in numbers {
      let event = event(number, size: size)
      events.append(at: event.at) { EventFormat.json.append(event, TimeText(event.at), to: &$0) }
    }
    return events
  }

  private func lines(_ text: some Sequence<UInt8>) throws -> [Line] {
    try Array(text).split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Line.self, from: Data($0))
    }
  }

  private func number(_ line: Line) -> Int? { line.path.flatMap { Int($0.prefix { $0 != "-" }) } }

  @Test func `events are written in the order in which they were queued`() throws {
    let pipe = Pipe()
    let writer = try EventWriter(pipe.fileHandleForWriting.fileDescriptor, .json)
    for start in stride(from: 0, to: 300, by: 3) { writer.write(batch(start..<start + 3)) }
    #expect(writer.finish() == nil)
    try pipe.fileHandleForWriting.close()
    let lines = try lines(pipe.fileHandleForReading.readToEnd() ?? Data())
    #expect(lines.map(number) == Array(0..<300))
  }

  @Test func `an event with the number of dropped events takes their place`() throws {
    let pipe = Pipe()
    let writer = try EventWriter(pipe.fileHandleForWriting.fileDescriptor, .json)
    let reader = pipe.fileHandleForReading
    // The thread takes these, and writes them until the pipe is full.
    writer.write(batch(0..<100, size: 4096))
    var text = reader.availableData
    // More events than can wait.
    for start in stride(from: 100, to: 4000, by: 100) { writer.write(batch(start..<start + 100, size: 4096)) }
    // Their number is written even if no event follows.
    while text.suffix(400).firstRange(of: Data(#""dropped""#.utf8)) == nil { text += reader.availableData }
    writer.write(batch([4000]))
    while text.suffix(400).firstRange(of: Data(#""4000-""#.utf8)) == nil { text += reader.availableData }
    let problem = writer.finish()
    let lines = try lines(text)
    let dropped = try #require(lines.firstIndex { $0.type == "dropped" })
    #expect(lines.count { $0.type == "dropped" } == 1)
    // The events before the gap and the event after it are complete and in order.
    #expect(lines[..<dropped].map(number) == Array(0..<dropped))
    #expect(lines[(dropped + 1)...].map(number) == [4000])
    #expect(lines[dropped].events == 4000 - dropped)
    #expect(lines[dropped].at == "1970-01-01T00:00:03.999Z")
    #expect(problem == "\(4000 - dropped) events dropped because the reader was too slow")
  }

  @Test func `a log states how many events were dropped`() {
    #expect(
      EventText.text(.dropped(at: Instant(nanoseconds: 1_500_000_000), count: 7))
        == "1970-01-01T00:00:01.500Z warning 7 events dropped because the file could not be written fast enough"
    )
  }
}

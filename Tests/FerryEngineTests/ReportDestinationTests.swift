import FerryPlan
import FerryReport
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

/// Another user exchanges the destination of a report, a log or a trace while ferry uses it.
@Suite(.enabled("only root may give files away") { geteuid() == 0 })
struct ReportDestinationTests {
  static var source: ReportSource {
    ReportSource(
      RunRecord(
        run: .init(
          id: "r", manifests: [], launch: .background, startedAt: "", endedAt: "", exitCode: 0, state: .ended),
        totals: .init(), nodes: [], items: []))
  }

  /// Another user replaces the FIFO after it is checked and before it is opened.
  @Test func aFIFOOfAnotherUserReceivesNothing() throws {
    let folder = try TestFolder()
    chmod(folder.path, 0o1777)
    let (place, own, theirs) = ("\(folder.path)/report", "\(folder.path)/own", "\(folder.path)/theirs")
    var readers: [Int32] = []
    for path in [own, theirs] {
      try #require(mkfifo(path, 0o666) == 0)
      readers.append(open(path, O_RDONLY | O_NONBLOCK))
    }
    defer { for reader in readers { close(reader) } }
    try #require(chown(theirs, 65534, 65534) == 0)

    let isOver = Atomic(false)
    var refusals = 0
    var received = 0
    let flipping = Thread {
      while !isOver.load(ordering: .relaxed) {
        for fifo in [own, theirs] {
          link(fifo, place + ".next")
          rename(place + ".next", place)
        }
      }
    }
    flipping.start()
    let end = ContinuousClock.now + .seconds(2)
    while ContinuousClock.now < end {
      do { try ReportDestination(place).write(Self.source, as: OneByte(1)) } catch { refusals += 1 }
      var bytes = [UInt8](repeating: 0, count: 64)
      if read(readers[0], &bytes, bytes.count) > 0 { received += 1 }
    }
    isOver.store(true, ordering: .relaxed)
    var byte: UInt8 = 0
    #expect(read(readers[1], &byte, 1) <= 0, "the other user has received the report")
    #expect(refusals > 0 && received > 0, "\(refusals) refusals, \(received) reports")
  }

  /// Another user creates the file after it is checked and before it is opened.
  @Test(arguments: ["--log", "--trace"])
  func aFileThatAnotherUserCreatesReceivesNothing(option: String) throws {
    let folder = try TestFolder()
    chmod(folder.path, 0o1777)
    let (place, theirs) = ("\(folder.path)/place", "\(folder.path)/theirs")
    try #require(FileManager.default.createFile(atPath: theirs, contents: nil))
    try #require(chown(theirs, 65534, 65534) == 0)

    let isOver = Atomic(false)
    let flipping = Thread {
      while !isOver.load(ordering: .relaxed) {
        link(theirs, place)
        unlink(place)
      }
    }
    flipping.start()
    defer { isOver.store(true, ordering: .relaxed) }
    var refusals = 0
    var written = 0
    let end = ContinuousClock.now + .seconds(30)
    while refusals < 200 || written < 200, ContinuousClock.now < end {
      do {
        let destination = ReportDestination(place)
        if option == "--trace" {
          // A new trace begins with a header.
          _ = try TraceFile(destination, version: "1")
        } else {
          let descriptor = try destination.open(for: option)
          defer { close(descriptor) }
          #expect(AtomicWrite.failure(of: [1], to: descriptor) == nil)
        }
        written += 1
      } catch {
        refusals += 1
      }
      unlink(place)
    }
    #expect(FileManager.default.contents(atPath: theirs)?.isEmpty == true, "the other user has received data")
    #expect(refusals > 0 && written > 0, "\(refusals) refusals, \(written) files")
  }
}

/// A document of one byte.
struct OneByte: ReportRenderer {
  let byte: UInt8

  init(_ byte: UInt8) { self.byte = byte }

  func render(_ source: ReportSource, to sink: any ByteSink) throws { try sink.write([byte]) }
}

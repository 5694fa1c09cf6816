import Foundation
import Testing

@testable import FerryEngine

struct WholeWriteTests {
  /// The data exceeds the pipe's capacity, and the reader reads nothing.
  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func aReaderThatReadsNothingIsWaitedForOnlyUntilTheTimeout(waits: Bool) throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    if !waits { #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0) }
    let bytes = [UInt8](repeating: 0x78, count: 4 << 20)
    #expect(AtomicWrite.failure(of: bytes, to: ends[1], patience: .milliseconds(20)) == ETIMEDOUT)
  }

  /// In Swift, a slash and a combining mark after it are one `Character`.
  @Test func aNameThatBeginsWithACombiningMarkIsWrittenInItsFolder() throws {
    let folder = try TestFolder()
    #expect(mkdir(folder.path + "/\u{301}d", 0o700) == 0)
    let path = folder.path + "/\u{301}d/\u{301}report"
    folder.link("\u{301}l", to: "\u{301}d/\u{301}report")
    #expect(AtomicWrite.failure(of: [1], replacing: path, access: .ofReplaced) == nil)
    for (name, byte) in [("/\u{301}d/\u{301}report", UInt8(2)), ("/\u{301}l", 3)] {
      let destination = ReportDestination(folder.path + name)
      try destination.check()
      try destination.write(ReportDestinationTests.source, as: OneByte(byte))
      #expect(FileManager.default.contents(atPath: path) == Data([byte]))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/\u{301}d").count == 1)
  }

  @Test func allBytesReachAReader() throws {
    let pipe = Pipe()
    let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0) }
    let thread = Thread {
      #expect(
        AtomicWrite.failure(of: bytes, to: pipe.fileHandleForWriting.fileDescriptor, patience: .seconds(20))
          == nil)
      try? pipe.fileHandleForWriting.close()
    }
    thread.start()
    #expect(try pipe.fileHandleForReading.readToEnd().map(Array.init) == bytes)
  }
}

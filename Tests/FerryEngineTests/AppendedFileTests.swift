import Foundation
import Testing

@testable import FerryEngine

/// The file of `--log` or `--events`, which is opened by each run.
@Suite struct `A file to which events are appended` {
  private let folder: TestFolder
  private let path: String

  init() throws {
    folder = try TestFolder()
    path = folder.path + "/events"
  }

  private func append(_ line: String) throws {
    let descriptor = try ReportDestination(path).open(for: "--events")
    defer { close(descriptor) }
    #expect(AtomicWrite.failure(of: Array(line.utf8), to: descriptor) == nil)
  }

  private func text() throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  @Test func `is created, and keeps its content`() throws {
    try append("first\n")
    try append("second\n")
    #expect(try text() == "first\nsecond\n")
  }

  /// A full disk can interrupt the write of a line.
  @Test func `gets a line break after an incomplete line`() throws {
    for content in ["half", "first\nhalf"] {
      try Data(content.utf8).write(to: URL(filePath: path))
      try append("next\n")
      #expect(try text() == content + "\nnext\n")
    }
  }

  @Test func `gets no line break if it is empty`() throws {
    try Data().write(to: URL(filePath: path))
    try append("next\n")
    #expect(try text() == "next\n")
  }
}

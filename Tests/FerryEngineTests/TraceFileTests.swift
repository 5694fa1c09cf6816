import FerryPlan
import FerryReport
import Foundation
import Testing

@testable import FerryEngine

@Suite struct `The file of a trace` {
  private let folder: TestFolder
  private let path: String

  init() throws {
    folder = try TestFolder()
    path = folder.path + "/trace.har"
  }

  private func file(limit: Int64 = TraceFile.defaultLimit) throws -> TraceFile {
    try TraceFile(ReportDestination(path), version: "1", limit: limit)
  }

  private func entry(_ number: Int) -> [UInt8] {
    HARText.separator + Array(#"{"number":\#(number)}"#.utf8)
  }

  private struct Archive: Decodable {
    struct Log: Decodable {
      struct Entry: Decodable { var number: Int }
      var entries: [Entry]
      var comment: String?
    }
    var log: Log
  }

  private func archive() throws -> Archive.Log {
    try JSONDecoder().decode(Archive.self, from: Data(contentsOf: URL(filePath: path))).log
  }

  @Test func `is complete after each write, and is continued`() throws {
    for round in 0..<3 {
      let file = try file()
      #expect(try archive().entries.count == round * 2)
      #expect(file.append(entry(round * 2) + entry(round * 2 + 1), count: 2) == nil)
      #expect(try archive().entries.map(\.number) == Array(0..<(round * 2 + 2)))
    }
  }

  /// A kill can interrupt a write after any byte.
  @Test func `loses at most the entry that was being written`() throws {
    func write(_ numbers: Range<Int>) throws -> Data {
      try Data().write(to: URL(filePath: path))
      let file = try file()
      for number in numbers { _ = file.append(entry(number), count: 1) }
      return try Data(contentsOf: URL(filePath: path))
    }
    for count in 0...1 {
      let before = try write(1..<count + 1)
      let after = try write(1..<count + 2)
      for length in before.count - 5...after.count {
        // A longer file is not truncated before the new bytes are written.
        try (after.prefix(length) + before.dropFirst(length)).write(to: URL(filePath: path))
        let file = try file()
        _ = file.append(entry(3), count: 1)
        let numbers = try archive().entries.map(\.number)
        #expect(
          numbers.last == 3 && numbers.dropLast().elementsEqual(1..<(numbers.count))
            && numbers.count > count, "\(count), \(length): \(numbers)")
      }
    }
  }

  @Test func `stops at its limit, and says so`() throws {
    let file = try file(limit: 200)
    for number in 0..<20 { #expect(file.append(entry(number), count: 1) == nil) }
    let log = try archive()
    #expect((3..<12).contains(log.entries.count))
    let omitted = 20 - log.entries.count
    #expect(log.comment == "\(omitted) more requests not recorded, because the file is full")
    #expect(file.problem?.hasPrefix("\(omitted) requests not recorded") == true)
  }

  @Test func `is created with mode 0600`() throws {
    let new = try file()
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    withExtendedLifetime(new) {}
  }

  @Test func `has one writer, and is readable only by its owner`() throws {
    #expect(
      FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o644]))
    let first = try file()
    #expect(throws: UsageError.self) { try file() }
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    withExtendedLifetime(first) {}
  }
}

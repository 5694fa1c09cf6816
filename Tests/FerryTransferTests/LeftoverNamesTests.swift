import Foundation
import Testing

@testable import FerryTransfer

/// The search for temporary files that killed processes left behind.
struct LeftoverNamesTests {
  private let folder = URL.temporaryDirectory.appending(
    path: "leftovers-\(UUID())/", directoryHint: .isDirectory)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func make(_ name: String) throws { try Data().write(to: folder.appending(path: name)) }

  private func names(_ prefix: String = ".a.ferry-part-") -> [String] {
    LeftoverNames.shared.names(in: folder.path(percentEncoded: false), prefix: prefix)
      .map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  @Test func `a small folder is read for each download`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(names() == [])
    for name in [".a.ferry-part-1", ".a.ferry-part-A", "a", ".b.ferry-part-1", ".a.ferry-part-22"] {
      try make(name)
    }
    #expect(names() == [".a.ferry-part-1", ".a.ferry-part-22"])
    #expect(names(".b.ferry-part-") == [".b.ferry-part-1"])
  }

  @Test func `a large folder is read again after as many downloads as it has entries`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try make(".a.ferry-part-1")
    for number in 0..<97 { try make("\(number)") }
    #expect(names() == [".a.ferry-part-1"])
    try make(".a.ferry-part-2")
    // 98 files, and the entries `.` and `..`.
    for _ in 0..<100 { #expect(names() == [".a.ferry-part-1"]) }
    #expect(names() == [".a.ferry-part-1", ".a.ferry-part-2"])
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// Which dropped upload IDs the server issues again.
struct OrphanedUploadIndexTests {
  private func book(abandon url: String) throws -> OrphanedUploadIndex {
    let folder = try TestFolder()
    let manifest = """
      version: 1
      name: m
      sessions: { s: { kind: background, identifier: s } }
      uploads:
        up:
          session: s
          files: { root: . }
          allocate: { request: { method: PUT, url: "http://h/ids/${file.path}" }, capture: { id: { json: /id } } }
          transfer: { request: { url: "http://h/${allocate.id}" } }
          abandon: { request: { method: DELETE, url: "\(url)" } }
      """
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: folder.path + "/m.yaml"))
    let reading = try Job.read(path: folder.path + "/m.yaml", variables: [:], environment: [:])
    return OrphanedUploadIndex(try #require(reading.job, "\(reading.diagnostics)").plan)
  }

  private func capture(_ id: String) -> [CapturedValue] {
    [CapturedValue(name: "id", value: id, isSecret: false)]
  }

  private func add(_ id: String, of path: [UInt8], as orphan: Int, to book: inout OrphanedUploadIndex) {
    var values = ItemValues()
    values.allocate = capture(id)
    let file = FileValues(path: path, size: 1, modified: 0)
    book.add(.init(file: file, values: values), as: .orphan(orphan, of: NodeID(0)))
  }

  @Test func areThoseOfTheIDThatTheRequestNames() throws {
    var book = try book(abandon: "http://h/ids/${allocate.id}")
    add("1", of: Array("a".utf8), as: 0, to: &book)
    add("2", of: Array("b".utf8), as: 1, to: &book)
    #expect(book.regained(by: capture("2"), path: Array("c".utf8), of: NodeID(0)) == [1])
    book.forget(.orphan(1, of: NodeID(0)))
    #expect(book.regained(by: capture("2"), path: Array("c".utf8), of: NodeID(0)).isEmpty)
  }

  /// Two names in Unicode's composed and decomposed forms, and two that are not text, are four files.
  @Test func areThoseOfTheFileWhereTheRequestNamesIt() throws {
    var book = try book(abandon: "http://h/ids/${file.path}")
    let paths: [[UInt8]] = [Array("\u{E9}".utf8), Array("e\u{301}".utf8), [0xFE], [0xFF]]
    for (orphan, path) in paths.enumerated() { add("same", of: path, as: orphan, to: &book) }
    for (orphan, path) in paths.enumerated() {
      #expect(book.regained(by: capture("other"), path: path, of: NodeID(0)) == [orphan])
    }
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// Orphaned upload IDs that the server issues again.
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
          allocate: { request: { method: PUT, url: "http://h/ids/${file.path}" }, capture: { id: { json: /id }, bucket: { json: /bucket }, resource: { json: /resource } } }
          transfer: { request: { url: "http://h/${allocate.id}" } }
          abandon: { request: { method: DELETE, url: "\(url)" } }
      """
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: folder.path + "/m.yaml"))
    let reading = try Job.read(path: folder.path + "/m.yaml", variables: [:], environment: [:])
    return OrphanedUploadIndex(try #require(reading.job, "\(reading.diagnostics)").plan)
  }

  /// The values of an item with these captures.
  private func values(_ captures: [String: String]) -> ItemValues {
    var values = ItemValues()
    values.allocate = captures.map { CapturedValue(name: $0.key, value: $0.value, isSecret: false) }
    return values
  }

  private func orphan(_ number: Int) -> ItemRef { .orphan(number, of: NodeID(0)) }

  private func add(
    _ captures: [String: String], of path: [UInt8], as number: Int, to book: inout OrphanedUploadIndex
  ) {
    let file = FileValues(path: path, size: 1, modified: 0)
    book.add(.init(file: file, values: values(captures)), as: orphan(number))
  }

  @Test func orphansAreFoundByTheIDThatTheRequestNames() throws {
    var book = try book(abandon: "http://h/ids/${allocate.id}")
    add(["id": "1"], of: Array("a".utf8), as: 0, to: &book)
    add(["id": "2"], of: Array("b".utf8), as: 1, to: &book)
    // Another upload may capture the ID under another name.
    for name in ["id", "other"] {
      for node in [0, 7] {
        let found = book.regained(by: values([name: "2"]), path: Array("c".utf8), of: NodeID(node))
        #expect(found == [orphan(1)])
      }
    }
    book.forget(orphan(1))
    #expect(book.regained(by: values(["id": "2"]), path: Array("c".utf8), of: NodeID(0)).isEmpty)
  }

  @Test func orphansMatchWithAnyResourceOfAFile() throws {
    var book = try book(abandon: "http://h/${allocate.resource}")
    add(["resource": "a", "resource_2": "b", "concatenation": "a b"], of: [1], as: 0, to: &book)
    add(["resource": "c"], of: [1], as: 1, to: &book)
    for (url, number) in [("a", 0), ("b", 0), ("c", 1)] {
      #expect(book.regained(by: values(["resource_7": url]), path: [2], of: NodeID(0)) == [orphan(number)])
    }
    #expect(
      book.regained(by: values(["resource": "a", "resource_2": "b"]), path: [2], of: NodeID(0)) == [orphan(0)]
    )
    book.forget(orphan(0))
    #expect(book.regained(by: values(["resource": "b"]), path: [2], of: NodeID(0)).isEmpty)
  }

  @Test func orphansMatchOnlyWithAllValuesOfTheRequest() throws {
    var book = try book(abandon: "http://h/${allocate.bucket}/${allocate.id}")
    for number in 0..<3 { add(["bucket": "b", "id": "\(number)"], of: [1], as: number, to: &book) }
    #expect(book.regained(by: values(["bucket": "b"]), path: [2], of: NodeID(0)).isEmpty)
    for number in 0..<3 {
      let known = values(["bucket": "b", "id": "\(number)", "more": "x"])
      #expect(book.regained(by: known, path: [2], of: NodeID(0)) == [orphan(number)])
      book.forget(orphan(number))
      #expect(book.regained(by: known, path: [2], of: NodeID(0)).isEmpty)
    }
  }

  /// A name in Unicode's composed form, the same name in its decomposed form, and two names that are not valid UTF-8
  /// are four files.
  @Test func orphansAreFoundByTheFileIfTheRequestNamesIt() throws {
    var book = try book(abandon: "http://h/ids/${file.path}")
    let paths: [[UInt8]] = [Array("\u{E9}".utf8), Array("e\u{301}".utf8), [0xFE], [0xFF]]
    for (number, path) in paths.enumerated() { add(["id": "same"], of: path, as: number, to: &book) }
    for (number, path) in paths.enumerated() {
      #expect(book.regained(by: values(["id": "other"]), path: path, of: NodeID(0)) == [orphan(number)])
      #expect(book.regained(by: values(["id": "other"]), path: path, of: NodeID(1)).isEmpty)
    }
  }
}

import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

/// Lists of files with names that take long to compare, in a run that is stopped.
struct StoppedSortTests {
  private static let count = 20_000

  /// In an order that takes many comparisons to sort.
  private static let names = (0..<count).map { String(100_000 + $0 * 7919 % 20_011) }

  /// A stop check that returns `true` in one of its calls.
  private final class Stop: Sendable {
    private let calls = Mutex((count: 0, stopsAt: Int.max))

    init(at call: Int = .max) { calls.withLock { $0.stopsAt = call } }

    var count: Int { calls.withLock { $0.count } }

    var isSet: Bool {
      calls.withLock { calls in
        calls.count += 1
        return calls.count == calls.stopsAt
      }
    }
  }

  @Test func aFolderIsNotSortedToItsEnd() {
    func sorted(_ stop: Stop) -> (isSorted: Bool, names: [String]) {
      var entries = FolderEntries()
      entries.beginFolder()
      for name in Self.names {
        Array(name.utf8).withUnsafeBytes { entries.appendFile($0, stat(), isLink: false) }
      }
      let isSorted = entries.sortFolder { stop.isSet }
      return (
        isSorted, (0..<entries.count).map { String(decoding: entries.name(of: entries[$0]), as: UTF8.self) }
      )
    }
    let stop = Stop()
    let all = sorted(stop)
    #expect(all.isSorted && all.names == Self.names.sorted() && stop.count > 1)
    let rest = sorted(Stop(at: 1))
    #expect(!rest.isSorted && rest.names.isEmpty)
  }

  @Test func aListOfDownloadsIsNotSortedToItsEnd() throws {
    let lines = Self.names.map { "https://example.com/\($0)" }.joined(separator: "\n")
    let target = Template([.literal("photos/"), .reference(.item("name"))])
    let items = DownloadItems(.file("list", json: nil), saveTo: target, size: nil, sha256: nil)
    func read(_ stop: Stop) throws -> Int {
      var reader = ItemListReader(items, fields: [], stateFolders: [], reserved: ReservedPaths(), filter: nil)
      {
        stop.isSet
      }
      return try reader.read(Array(lines.utf8)).0.files.count
    }
    let stop = Stop()
    #expect(try read(stop) == Self.count)
    #expect(try read(Stop(at: stop.count)) == 0)
  }

  @Test func storedDocumentsAreNotLookedUpAnyFurther() throws {
    let folder = try TestFolder()
    let manifest = """
      version: 1
      name: m
      sessions: { s: {} }
      downloads: { d: { session: s, items: { file: list, save_to: "a/${item.name}" } } }
      """
    try manifest.write(toFile: folder.path + "/m.yaml", atomically: true, encoding: .utf8)
    let reading = try Job.read(path: folder.path + "/m.yaml", variables: [:], environment: [:])
    let job = try #require(reading.job, "\(reading.diagnostics)")
    guard case .upload(let work) = job.plan.nodes[0].work else {
      Issue.record("no download batch")
      return
    }
    let root = try SourceRoot(Array(folder.path.utf8))
    var files = FileColumns()
    for name in Self.names.prefix(10) { files.append(path: Array(name.utf8), size: 1, modified: 1) }
    #expect(work.missing(of: files, beneath: root, StopCheck { false })?.count == 10)
    #expect(work.missing(of: files, beneath: root, StopCheck { true })?.isEmpty == true)
  }
}

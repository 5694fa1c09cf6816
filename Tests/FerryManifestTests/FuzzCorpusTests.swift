import Foundation
import Testing

/// The corpus that `make fuzz` starts from, read without libFuzzer: what once was found stays found.
@Suite struct `Each text of the fuzz corpus` {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  static let names: [String] = {
    // Without the folder, the list is empty, and the test of their number fails.
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }()

  @Test func `exists, and is small`() throws {
    #expect((40...150).contains(Self.names.count))
    for name in Self.names {
      let size = try Data(contentsOf: Self.folder.appending(path: name)).count
      #expect(size < 4_096, "\(name)")
    }
  }

  @Test(arguments: names)
  func `is read without violating an invariant`(_ name: String) throws {
    let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
    #expect(ReadingInvariants.violations(by: bytes) == [])
  }
}

import Foundation
import Testing

/// Reads the corpus with which `make fuzz` starts, without libFuzzer, so that the bugs that it revealed stay fixed.
@Suite struct `Each text of the fuzz corpus` {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  static let names: [String] = {
    // If the folder does not exist, the list is empty, and the test of the number of files fails.
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

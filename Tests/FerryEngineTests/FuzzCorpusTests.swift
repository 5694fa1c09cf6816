import Foundation
import Testing

/// Reads the inputs with which `scripts/fuzz TARGET` starts, without libFuzzer, so that the bugs that they revealed
/// stay fixed.
@Suite struct `Each input of a fuzz corpus` {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzz/Corpora")

  private func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = Self.folder.appending(path: target.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      (name, Array(try Data(contentsOf: folder.appending(path: name))))
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `exists, and is small`(_ target: FuzzTarget) throws {
    let inputs = try inputs(of: target)
    #expect((5...70).contains(inputs.count))
    for input in inputs { #expect(input.bytes.count < 4_096, "\(input.name)") }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `is read without violating an invariant`(_ target: FuzzTarget) throws {
    for input in try inputs(of: target) {
      #expect(target.violations(by: input.bytes) == [], "\(input.name)")
    }
  }

  @Test func `has a target, and each target a corpus`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
    #expect(folders == FuzzTarget.allCases.map(\.rawValue).sorted())
  }
}

import Foundation
import Testing

@testable import Receiver

/// Checks the bytes by decompressing them with the system's gzip.
@Suite struct GzipBytesTests {
  private func decompressed(_ bytes: [UInt8]) throws -> Data {
    let file = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString).gz")
    defer { unlink(file.path(percentEncoded: false)) }
    try Data(bytes).write(to: file)
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-dc", file.path(percentEncoded: false)]
    let output = Pipe()
    gzip.standardOutput = output
    try gzip.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    gzip.waitUntilExit()
    #expect(gzip.terminationStatus == 0)
    return data
  }

  @Test func `stored bytes are decompressed unchanged`() throws {
    #expect(try decompressed(GzipBytes.stored(Array("a text".utf8))) == Data("a text".utf8))
    #expect(try decompressed(GzipBytes.stored([])) == Data())
  }

  @Test(arguments: [1, 10_000, 5_000_000])
  func `zeros are decompressed unchanged, and take a 158th of their size`(size: Int) throws {
    let zeros = GzipBytes.zeros(size)
    let bytes = zeros.start + Array(repeatElement(zeros.unit, count: zeros.units).joined()) + zeros.end
    let back = try decompressed(bytes)
    #expect(back == Data(count: back.count))
    #expect(back.count <= max(size, 2323) && back.count > size - 2064)
    #expect(bytes.count <= back.count / 158 + 30)
  }

  @Test func `a queue that is never empty does not retain drained bytes`() {
    var queue = ByteQueue()
    queue.append([UInt8](repeating: 0, count: 1000))
    for _ in 0..<10_000 {
      queue.append([UInt8](repeating: 0, count: 1000))
      _ = queue.drain { _ in .moved(1000) }
    }
    #expect(queue.count == 1000)
    #expect(queue.footprint < 200_000)
  }
}

import FerryPlan
import FerryProcess
import Foundation
import Testing

@testable import FerryTransfer

extension TransferLoop.Threads {
  init() throws { try self.init(watch: PollThread("ferry-test")) }
}

extension TransferLoop {
  convenience init() throws { try self.init(threads: .init()) }

  /// Runs one request to its end.
  func run(_ request: TransferRequest) throws -> TransferOutcome {
    start(request)
    return try #require(finish(1).first)
  }

  /// Runs turns until `count` requests have ended. The test fails if this takes more than 30 seconds.
  func finish(_ count: Int) -> [TransferOutcome] {
    var ended: [TransferOutcome] = []
    let end = SuspendingClock.now.advanced(by: .seconds(30))
    while ended.count < count, SuspendingClock.now < end {
      ended += turn(timeout: SuspendingClock.now.duration(to: end))
    }
    #expect(ended.count == count)
    return ended
  }
}

extension TransferOutcome {
  var answer: TransferResponse? { try? result.get() }
  var failure: TransportFailure? {
    switch result {
    case .success: nil
    case .failure(let failure): failure
    }
  }
}

/// A folder for one test, removed when this object is released.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "ferry-transfer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }  // A leftover folder does no harm.

  func file(_ name: String) -> String { "\(path)/\(name)" }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

  func text(_ name: String) -> String? {
    FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  var root: SourceRoot {
    get throws { try SourceRoot(Array(path.utf8)) }
  }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) -> TransferRequest.FileSource {
    #expect(FileManager.default.createFile(atPath: file(name), contents: Data(bytes)))
    return source(name)
  }

  /// The file as a listing would describe it at this time.
  func source(_ name: String, wantsSHA256: Bool = false) -> TransferRequest.FileSource {
    var status = stat()
    stat(file(name), &status)
    guard let root = try? root else { preconditionFailure("the folder of a test is there") }
    return TransferRequest.FileSource(
      root: root, path: Array(name.utf8), size: Int64(status.st_size), modified: status.modifiedNanoseconds,
      identity: status.identity,
      wantsSHA256: wantsSHA256)
  }
}

/// Bytes with a period of 65,537, which divides no buffer's size, so that missing or repeated pieces are detected.
func pattern(_ count: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + periodOfPattern.count)
  while bytes.count < count { bytes += periodOfPattern }
  bytes.removeLast(bytes.count - count)
  return bytes
}

private let periodOfPattern: [UInt8] = {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  return (0..<65_537).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
}()

extension TransferLoop {
  /// Runs turns until another thread has made a condition true, but for at most 10 seconds.
  func wait(_ condition: () -> Bool) {
    let end = SuspendingClock.now.advanced(by: .seconds(10))
    while !condition(), SuspendingClock.now < end { _ = turn(timeout: .milliseconds(5)) }
  }
}

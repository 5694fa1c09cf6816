import FerryDigest
import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct `The checksum of a download` {
  static let body = "hello world"
  static let sha256 = "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="
  static let md5 = "XrY7u+Ae7tCTyyK7j1rNww=="

  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    folder.write("file", Array("old".utf8))
    loop = try TransferLoop()
  }

  private func get(_ headers: [String], _ checksum: TransferRequest.Checksum) throws -> TransferOutcome {
    let server = try RawServer { _ in answer(headers: headers, body: Self.body) }
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("file")))
    request.checksum = checksum
    return try loop.run(request)
  }

  @Test(arguments: [
    ("Repr-Digest", "sha-256=:\(sha256):"), ("Content-Digest", "unixsum=:AA==:, sha-256=:\(sha256):;x=1"),
    ("Digest", "SHA-256=\(sha256),md5=AAAA"), ("Digest", "md5=\(md5)"), ("Content-MD5", md5),
    ("Repr-Digest", "md5=:\(md5):"),
  ]) func `is that in the header`(_ name: String, _ value: String) throws {
    #expect(try get(["\(name): \(value)"], .field(name)).answer?.refusal == nil)
    #expect(folder.text("file") == Self.body)
  }

  @Test(arguments: [
    (
      "Repr-Digest", "sha-256=:\(sha256.replacing("u", with: "v")):",
      "the SHA-256 digest of the file is not that in the header 'Repr-Digest'"
    ),
    // The strongest digest decides.
    (
      "Digest", "sha-256=\(sha256.replacing("u", with: "v")),md5=\(md5)",
      "the SHA-256 digest of the file is not that in the header 'Digest'"
    ),
    (
      "Repr-Digest", "crc32c=:AAAAAA==:",
      "the header 'Repr-Digest' contains no usable SHA-512, SHA-256, SHA-1 or MD5 digest, or contradictory ones"
    ),
    (
      "Repr-Digest", "sha-256=:AAAA:",
      "the header 'Repr-Digest' contains no usable SHA-512, SHA-256, SHA-1 or MD5 digest, or contradictory ones"
    ),
    (
      "Content-MD5", "",
      "the header 'Content-MD5' contains no usable SHA-512, SHA-256, SHA-1 or MD5 digest, or contradictory ones"
    ),
  ]) func `in the header prevents another file from being stored`(
    _ name: String, _ value: String, _ reason: String
  ) throws {
    #expect(try get(["\(name): \(value)"], .field(name)).answer?.refusal == reason)
    #expect(folder.text("file") == "old")
    #expect(folder.names == ["file"])
  }

  @Test func `in the header is required`() throws {
    #expect(
      try get([], .field("Repr-Digest")).answer?.refusal
        == "the response has no header 'Repr-Digest', which 'checksum' requires")
    #expect(folder.text("file") == "old")
  }

  @Test func `is that in the manifest`() throws {
    let digest = SHA256.hash(Self.body.utf8)
    #expect(try get([], .digest(.sha256, digest)).answer?.refusal == nil)
    #expect(folder.text("file") == Self.body)
    folder.write("file", Array("old".utf8))
    #expect(
      try get([], .digest(.sha256, digest.reversed())).answer?.refusal
        == "the SHA-256 digest of the file is not that in 'checksum'")
    #expect(folder.text("file") == "old")
  }

  @Test(arguments: [DigestAlgorithm.sha256, .sha512, .sha1, .md5]) func `has one of four algorithms`(
    _ algorithm: DigestAlgorithm
  ) throws {
    let digest = algorithm.makeDigest()
    Array(Self.body.utf8).withUnsafeBytes { digest.update($0) }
    #expect(try get([], .digest(algorithm, digest.finalize())).answer?.storedFile != nil)
  }

  @Test func `does not depend on the modification time that the file keeps`() throws {
    let server = try RawServer { _ in
      answer(headers: ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], body: Self.body)
    }
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("file")))
    request.keepsModified = true
    _ = try loop.run(request)
    var status = stat()
    stat(folder.file("file"), &status)
    #expect(status.st_mtim.tv_sec == 784_111_777 && status.st_mtim.tv_nsec == 0)
  }

  /// Starts a download whose response is complete, and holds the thread that computes its checksum.
  private func store(timeLimit: Duration?, _ body: (_ isStoring: () -> StoreInterruption?) -> Void) throws
    -> TransferOutcome
  {
    let gate = DispatchSemaphore(value: 0)
    loop.storeWorker.submit { gate.wait() }
    let server = try RawServer { _ in answer(headers: ["Content-MD5: \(Self.md5)"], body: Self.body) }
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("file")),
      timeLimit: timeLimit)
    request.checksum = .field("Content-MD5")
    loop.start(request)
    while loop.busy[1]?.exchange?.storing == nil { _ = loop.turn(timeout: .milliseconds(20)) }
    body { loop.busy[1]?.exchange?.storing }
    gate.signal()
    return try #require(loop.turn(timeout: .seconds(10)).first)
  }

  @Test func `is not computed after the request was cancelled`() throws {
    let outcome = try store(timeLimit: nil) { _ in loop.cancel(1) }
    #expect(outcome.failure?.code == .cancelled)
    #expect(folder.text("file") == "old" && folder.names == ["file"])
  }

  @Test func `is not computed after the time limit`() throws {
    let outcome = try store(timeLimit: .milliseconds(300)) { storing in
      while storing()?.failure == nil { _ = loop.turn(timeout: .milliseconds(50)) }
    }
    #expect(outcome.failure?.code == .resourceTimeout)
    #expect(outcome.failure?.message.contains("the checksum of the file was not computed") == true)
    #expect(folder.text("file") == "old" && folder.names == ["file"])
  }
}

import FerryDigest
import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct LoopTests {
  let loop: TransferLoop

  init() throws { loop = try TransferLoop() }

  @Test func twoHundredRequestsRunInParallel() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try RawServer { connection, number in
      guard let request = connection.readRequest() else { return }
      // The server responds to no request before all of them have arrived.
      if number == 199 { for _ in 0..<200 { gate.signal() } }
      gate.wait()
      connection.send(answer(body: request.target))
    }
    for id in 0..<200 {
      loop.start(TransferRequest(id: UInt64(id), method: "GET", url: server.url + "/\(id)"))
    }
    #expect(loop.inFlight == 200)
    let outcomes = loop.finish(200)
    #expect(loop.inFlight == 0)
    #expect(Set(outcomes.map(\.id)).count == 200)
    #expect(outcomes.allSatisfy { $0.answer?.body == Array("/\($0.id)".utf8) })
  }

  @Test func wakingEndsTheTurn() throws {
    let waker = loop.waker
    Thread.detachNewThread { waker.wake() }
    let start = SuspendingClock.now
    #expect(loop.turn(timeout: .seconds(30)).isEmpty)
    #expect(start.duration(to: .now) < .seconds(20))
  }

  @Test func wakingBeforeTheTurnEndsIt() {
    loop.waker.wake()
    #expect(loop.turn(timeout: nil).isEmpty)
  }

  @Test func wakingAReleasedLoopDoesNothing() throws {
    var other: TransferLoop? = try TransferLoop()
    let waker = other?.waker
    other = nil
    waker?.wake()
  }

  @Test func aCancelledRequestEndsInTheNextTurn() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      connection.waitForEnd()
    }
    loop.start(TransferRequest(id: 7, method: "GET", url: server.url))
    loop.wait { loop.progress.bodyReceived == 3 }
    loop.cancel(7)
    loop.cancel(8)
    let outcome = try #require(loop.turn(timeout: nil).first)
    #expect(outcome.id == 7)
    #expect(outcome.failure?.code == .cancelled)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.traffic.bodyReceived == 3)
    #expect(loop.inFlight == 0)
  }

  @Test func aRequestThatIsCancelledAtOnceHasTransferredNothing() throws {
    let server = try RawServer { _ in answer() }
    func put(_ id: UInt64) -> TransferRequest {
      TransferRequest(id: id, method: "PUT", url: server.url, body: .bytes(pattern(1000)))
    }
    _ = try loop.run(put(1))
    // This transfer reuses the first one's handle, including its counters.
    loop.start(put(2))
    #expect(loop.progress == Traffic())
    loop.cancel(2)
    #expect(loop.finish(1).first?.traffic == Traffic())
  }

  @Test func aRequestThatCannotStartEndsInTheNextTurn() {
    loop.start(TransferRequest(id: 1, method: "GET", url: "nonsense"))
    #expect(loop.turn(timeout: nil).map(\.id) == [1])
  }

  @Test func aLoopMayBeReleasedDuringTransfers() throws {
    let server = try RawServer { connection, _ in connection.waitForEnd() }
    do {
      let other = try TransferLoop()
      other.start(TransferRequest(id: 1, method: "GET", url: server.url))
      _ = other.turn(timeout: .milliseconds(20))
    }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [DigestAlgorithm.sha1, .crc32])
  func aPartOfAFileIsHashedBeforehand(algorithm: DigestAlgorithm) throws {
    let folder = try TemporaryFolder()
    let bytes = pattern(5 << 20)
    var source = folder.write("f", bytes)
    source.part = 1_000_000..<4_500_000
    loop.digest(id: 3, source: source, algorithm: algorithm)
    var digests: [DigestOutcome] = []
    loop.wait {
      digests += loop.takeDigests()
      return !digests.isEmpty
    }
    let expected = algorithm.makeDigest()
    bytes[1_000_000..<4_500_000].withUnsafeBytes(expected.update)
    #expect(try digests.first?.result.get() == expected.finalize())
  }

  @Test(arguments: [0, 10, 5 << 20])
  func aFileIsHashedBeforehand(size: Int) throws {
    let folder = try TemporaryFolder()
    let bytes = pattern(size)
    loop.digest(id: 3, source: folder.write("f", bytes))
    var digests: [DigestOutcome] = []
    loop.wait {
      digests += loop.takeDigests()
      return !digests.isEmpty
    }
    #expect(digests.map(\.id) == [3])
    #expect(try digests.first?.result.get() == SHA256.hash(bytes))
    #expect(loop.takeDigests().isEmpty)
  }

  @Test func aChangedFileHasNoDigest() throws {
    let folder = try TemporaryFolder()
    var source = folder.write("f", [1, 2])
    source.modified += 1
    loop.digest(id: 3, source: source)
    _ = loop.turn(timeout: .seconds(10))
    #expect(throws: TransportFailure.self) { try loop.takeDigests().first?.result.get() }
  }

  /// A file of one terabyte, whose digest takes minutes.
  private func largeFile(in folder: TemporaryFolder) -> TransferRequest.FileSource {
    folder.write("large", [])
    #expect(truncate(folder.file("large"), 1 << 40) == 0)
    return folder.source("large")
  }

  @Test func aFileIsNotHashedBeyondItsTimeLimit() throws {
    let folder = try TemporaryFolder()
    loop.digest(id: 3, source: largeFile(in: folder), timeLimit: .milliseconds(100))
    loop.digest(id: 4, source: folder.write("f", [1]))
    var digests: [DigestOutcome] = []
    loop.wait {
      digests += loop.takeDigests()
      return digests.count == 2
    }
    #expect(digests.map(\.id) == [4, 3], "a small file does not wait for a large one")
    guard case .failure(let failure) = digests.last?.result else {
      Issue.record("\(digests)")
      return
    }
    #expect(failure.code == .resourceTimeout && !failure.mayHaveReachedServer)
    #expect(failure.message.contains("large: computing its hash exceeded the time limit"))
  }

  @Test func aCancelledDigestHasNoOutcome() throws {
    let folder = try TemporaryFolder()
    loop.digest(id: 3, source: largeFile(in: folder), timeLimit: .milliseconds(100))
    loop.cancelDigest(3)
    loop.digest(id: 4, source: largeFile(in: folder), timeLimit: .milliseconds(200))
    var digests: [DigestOutcome] = []
    loop.wait {
      digests += loop.takeDigests()
      return !digests.isEmpty
    }
    #expect(digests.map(\.id) == [4])
  }

  @Test func theVersionNamesLibcurl() {
    #expect(TransferLoop.curlVersion.hasPrefix("libcurl/"))
  }
}

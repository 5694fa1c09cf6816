import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct TimeoutTests {
  let loop: TransferLoop

  init() throws { loop = try TransferLoop() }

  @Test func aServerThatNeverRespondsIsIdle() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.waitForEnd()
    }
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "PUT", url: server.url, body: .bytes([1]), idleTimeout: .milliseconds(300)))
    #expect(outcome.failure?.code == .requestTimeout)
    #expect(
      outcome.failure?.message
        == "127.0.0.1:\(server.port): no complete header line and no content was transferred for 300 ms")
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.duration >= .milliseconds(300))
    #expect(outcome.duration < .seconds(30))
  }

  @Test func aServerThatStopsReadingIsIdle() throws {
    let folder = try TemporaryFolder()
    let source = folder.write("f", pattern(24 << 20))
    let isOver = DispatchSemaphore(value: 0)
    let server = try RawServer { _, _ in isOver.wait() }
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "PUT", url: server.url, headers: [.init(name: "Expect", value: "")],
        body: .file(source), idleTimeout: .milliseconds(400)))
    isOver.signal()
    #expect(outcome.failure?.code == .requestTimeout)
  }

  @Test func aSlowResponseIsNotIdle() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
      for _ in 0..<20 {
        // The delay between two bytes is shorter than the idle timeout, even on a machine under load.
        Thread.sleep(forTimeInterval: 0.2)
        connection.send("a")
      }
    }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, idleTimeout: .seconds(3)))
    #expect(outcome.answer?.body.count == 20)
    #expect(outcome.duration > .milliseconds(3900))
  }

  /// libcurl drops chunk extensions, and passes on a header line only once it is complete.
  @Test(arguments: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", "HTTP/1.1 200 OK\r\nServer: "])
  func bytesThatAreNeitherContentNorACompleteHeaderLineDoNotCount(_ beginning: String) throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send(beginning)
      repeat { Thread.sleep(forTimeInterval: 0.01) } while connection.trySend([0x61])
    }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, idleTimeout: .milliseconds(400)))
    #expect(outcome.failure?.code == .requestTimeout)
    #expect(
      outcome.failure?.message.hasSuffix("no complete header line and no content was transferred for 400 ms")
        == true)
  }

  @Test func aTimeLimitAppliesToABusyTransfer() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
      repeat { Thread.sleep(forTimeInterval: 0.02) } while connection.trySend([0x61])
    }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, timeLimit: .milliseconds(250)))
    #expect(outcome.failure?.code == .resourceTimeout)
    #expect(outcome.duration >= .milliseconds(250))
    #expect(outcome.duration < .seconds(30))
  }

  @Test func aHangingHandshakeIsNotAConnection() throws {
    let server = try RawServer { connection, _ in connection.waitForEnd() }
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "GET", url: "https://127.0.0.1:\(server.port)/", idleTimeout: .milliseconds(200)))
    #expect(outcome.failure?.code == .connect)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(outcome.failure?.message == "connect to 127.0.0.1:\(server.port): timed out")
  }

  @Test func aTurnWithoutAnythingToDoEndsAtItsTimeout() {
    let start = SuspendingClock.now
    #expect(loop.turn(timeout: .milliseconds(50)).isEmpty)
    #expect(start.duration(to: .now) >= .milliseconds(50))
    #expect(loop.turn(timeout: .zero).isEmpty)
  }
}

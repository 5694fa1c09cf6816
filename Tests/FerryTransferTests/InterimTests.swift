import FerryPlan
import Testing

@testable import FerryTransfer

/// Interim responses, which are reported while the request is still being sent.
@Suite struct `An interim response` {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func run(
    _ heads: String, size: Int = 10, reports: Int? = 104
  ) throws -> (outcome: TransferOutcome, interim: [InterimResponse]) {
    let server = try RawServer { connection, _ in
      connection.send(heads)
      guard connection.readRequest() != nil else { return }
      connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
    }
    folder.write("f", pattern(size))
    var request = TransferRequest(
      id: 7, method: "POST", url: server.url + "/f", body: .file(folder.source("f")))
    request.reportedInterim = reports
    loop.start(request)
    var interim: [InterimResponse] = []
    var ended: [TransferOutcome] = []
    let end = SuspendingClock.now.advanced(by: .seconds(30))
    while ended.isEmpty, SuspendingClock.now < end {
      ended = loop.turn(timeout: .seconds(30))
      interim += loop.takeInterim()
    }
    return (try #require(ended.first), interim)
  }

  private static let assignment =
    "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\nUpload-Limit: max-size=9\r\n\r\n"

  @Test func `is reported with its fields, and the request continues`() throws {
    for size in [0, 10, 3_000_000] {
      let (outcome, interim) = try run(Self.assignment, size: size)
      #expect(outcome.answer?.status == 201)
      #expect(outcome.traffic.bodySent == Int64(size))
      #expect(interim.map(\.id) == [7])
      let response = try #require(interim.first?.response)
      #expect(response.status == 104 && response.header("upload-limit") == "max-size=9")
      #expect(response.header("location") == "/u/1" && response.url.hasSuffix("/f"))
      // The final response does not contain the fields of the interim response.
      #expect(outcome.answer?.header("location") == nil)
    }
  }

  @Test func `is reported once`() throws {
    let (outcome, interim) = try run(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLocation: /x\r\n\r\nHTTP/1.1 104 a\r\nUpload-Offset: 1\r\n\r\n"
        + Self.assignment + Self.assignment)
    #expect(outcome.answer?.status == 201)
    #expect(interim.map { $0.response.header("location") } == ["/u/1"])
  }

  @Test func `is ignored if nobody asked for it`() throws {
    let (outcome, interim) = try run(Self.assignment, reports: nil)
    #expect(outcome.answer?.status == 201 && interim.isEmpty)
  }

  /// The URL belongs to the request that was redirected and not executed, so the caller must forget it before the request
  /// is sent again.
  @Test func `before a redirect ends the request, and is ignored in the next one`() throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        let isTarget = request.target == "/target"
        connection.send(isTarget ? Self.assignment.replacing("/u/1", with: "/u/2") : Self.assignment)
        connection.send(
          (isTarget ? "HTTP/1.1 201 Created" : "HTTP/1.1 307 Moved\r\nLocation: /target")
            + "\r\nContent-Length: 0\r\n\r\n")
      }
    }
    folder.write("f", pattern(10))
    func run(_ id: UInt64) throws -> (status: Int?, isReferred: Bool?, locations: [String?]) {
      var request = TransferRequest(
        id: id, method: "POST", url: server.url + "/f", body: .file(folder.source("f")), atMostOnce: true)
      request.reportedInterim = 104
      let answer = try loop.run(request).answer
      return (answer?.status, answer?.isReferred, loop.takeInterim().map { $0.response.header("location") })
    }
    let first = try run(7)
    #expect(first.status == 307 && first.isReferred == true && first.locations == ["/u/1"])
    let second = try run(8)
    #expect(second.status == 201 && second.isReferred == false && second.locations == ["/u/2"])
    #expect(server.requests.map(\.target) == ["/f", "/f", "/target"])
  }

  @Test func `is reported before the end of a request that fails`() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send(Self.assignment)
    }
    folder.write("f", pattern(10))
    var request = TransferRequest(
      id: 7, method: "POST", url: server.url + "/f", body: .file(folder.source("f")), atMostOnce: true)
    request.reportedInterim = 104
    let outcome = try loop.run(request)
    #expect(outcome.failure?.code == .connectionLost)
    #expect(loop.takeInterim().map { $0.response.header("location") } == ["/u/1"])
  }
}

import Testing

@testable import Receiver

@Suite struct RequestFramingTests {
  /// Passes the text in pieces of the given size, and returns the output.
  private func pass(
    _ text: String, by size: Int = .max, framing: inout RequestFraming
  ) throws -> (output: String, continues: Int) {
    var queue = ByteQueue()
    var continues = 0
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      if try framing.pass(rest.prefix(size), to: &queue) { continues += 1 }
      rest = rest.dropFirst(size)
    }
    var output = ""
    _ = queue.drain {
      output = String(decoding: $0, as: UTF8.self)
      return .moved($0.count)
    }
    return (output, continues)
  }

  private func pass(_ text: String, by size: Int = .max) throws -> (output: String, continues: Int) {
    var framing = RequestFraming(mark: "M: 1")
    return try pass(text, by: size, framing: &framing)
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func `every head is recognized at its end, however the bytes are split`(size: Int) throws {
    let text =
      "PUT /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nG\r\n\r\nGET /b HTTP/1.1\r\n\r\n"
      + "POST /c HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n2;x=y\r\n\r\n\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"
      + "GET /d HTTP/1.0\n\n"
    let expected =
      "PUT /a HTTP/1.1\r\nContent-Length: 5\r\nM: 1\r\n\r\nG\r\n\r\nGET /b HTTP/1.1\r\nM: 1\r\n\r\n"
      + "POST /c HTTP/1.1\r\ntransfer-encoding: Chunked\r\nM: 1\r\n\r\n"
      + "2;x=y\r\n\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"
      + "GET /d HTTP/1.0\nM: 1\r\n\r\n"
    var framing = RequestFraming(mark: "M: 1")
    #expect(try pass(text, by: size, framing: &framing).output == expected)
    #expect(framing.isBetweenRequests)
  }

  @Test(arguments: ["GET", "GET / HTTP/1.1\r\nA: b\r\n", "PUT / HTTP/1.1\r\nContent-Length: 2\r\n\r\na"])
  func `half a request is not recognized as complete`(text: String) throws {
    var framing = RequestFraming(mark: "M: 1")
    _ = try pass(text, framing: &framing)
    #expect(!framing.isBetweenRequests)
  }

  @Test func `empty lines before a request are skipped`() throws {
    #expect(try pass("\r\n\r\nGET / HTTP/1.1\r\n\r\n").output == "GET / HTTP/1.1\r\nM: 1\r\n\r\n")
  }

  @Test func `100 Continue is sent once, and only if a body follows`() throws {
    let head = "PUT / HTTP/1.1\r\nExpect: 100-Continue\r\n"
    #expect(try pass("\(head)Content-Length: 2\r\n\r\n", by: 1).continues == 1)
    #expect(try pass("\(head)Transfer-Encoding: chunked\r\n\r\n").continues == 1)
    // The body has already arrived.
    #expect(try pass("\(head)Content-Length: 2\r\n\r\nab").continues == 0)
    #expect(try pass("\(head)\r\n").continues == 0)
    // HTTP/1.0 has no 100 Continue.
    #expect(try pass("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").continues == 0)
  }

  @Test(arguments: [
    ("GET /\r\n\r\n", RequestFraming.Refusal.malformed),
    ("GET / HTTP/1.1\r\nContent-Length: +5\r\n\r\n", .malformed),
    ("GET / HTTP/1.1\r\nContent-Length: \r\n\r\n", .malformed),
    ("GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", .malformed),
    ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .malformed),
    ("GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .malformed),
    ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .unknownCoding),
    ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n", .malformed),
    ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", .malformed),
    ("PRI * HTTP/2.0\r\n\r\n", .unknownVersion),
  ])
  func `a request that cannot be framed is rejected`(text: String, refusal: RequestFraming.Refusal) {
    #expect(throws: refusal) { try pass(text) }
  }

  @Test func `a head, a chunk's line and a trailer are bounded`() throws {
    let long = String(repeating: "a", count: RequestFraming.headLimit)
    #expect(throws: RequestFraming.Refusal.headTooLarge) { try pass("GET / HTTP/1.1\r\nA: \(long)", by: 999) }
    let chunked = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(throws: RequestFraming.Refusal.headTooLarge) { try pass("\(chunked)1;\(long)", by: 999) }
    #expect(throws: RequestFraming.Refusal.headTooLarge) { try pass("\(chunked)0\r\nT: \(long)", by: 999) }
  }
}

import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// The requests of uploads in parts, and how their responses are interpreted.
@Suite struct `A part of an upload` {
  private static let registry = """
    uploads:
      u:
        session: s
        files: { root: files }
        allocate:
          request: { url: "http://h/ids" }
          capture: { url: { header: Location } }
        transfer:
          protocol: content_range
          chunk_size: 10B
          request:
            method: PATCH
            url: "${allocate.url}"
            headers: { X-Digest: "${file.size}" }
          capture: { url: { header: Location } }
        commit: { request: { method: PUT, url: "${transfer.url}?done" } }
    """

  private static let google = """
    uploads:
      u:
        session: s
        files: { root: files }
        allocate:
          request: { url: "http://h/ids" }
          capture: { url: { header: Location } }
        transfer:
          protocol: content_range
          chunk_size: 10B
          offset_query: get
          request: { url: "${allocate.url}", headers: { Content-Type: image/png } }
    """

  private func run(_ nodes: String, size: Int = 25) throws -> TestRun {
    let run = try TestRun(nodes, files: ["f"], size: size)
    try run.respond(to: .allocate, 201, headers: [("Location", "http://h/up?state=0")])
    return run
  }

  private func part(_ request: TransferRequest) -> Range<Int64>? {
    guard case .file(let source) = request.body else { return nil }
    return source.part
  }

  @Test func `is sent with its position to the latest Location`() throws {
    let run = try run(Self.registry)
    var urls: [String] = []
    for (number, range) in ["0-9", "10-19", "20-24"].enumerated() {
      let request = try run.request(.transfer)
      urls.append(request.url)
      #expect(request.method == "PATCH" && request.atMostOnce && !request.redirects.keeps308)
      #expect(request.headers.map(\.name).sorted() == ["Content-Range", "X-Digest"])
      #expect(request.headers.first { $0.name == "Content-Range" }?.value == range)
      #expect(part(request).map { "\($0.lowerBound)-\($0.upperBound - 1)" } == range)
      try run.respond(
        to: .transfer, 202,
        headers: [("Location", "/up?state=\(number + 1)"), ("Range", "0-\(range.split(separator: "-")[1])")])
    }
    #expect(urls == (0..<3).map { "http://h/up?state=\($0)" })
    // The commit uses the captures of the last response.
    #expect(try run.request(.commit).url == "http://h/up?state=3?done")
  }

  @Test func `with a Location at another origin is judged like a captured URL`() throws {
    let run = try run(Self.registry)
    try run.respond(
      to: .transfer, 202, headers: [("Location", "http://user:pw@other/up"), ("Range", "0-9")])
    let request = try run.request(.transfer)
    #expect(request.url == "http://other/up")
    #expect(request.sensitive.isURLCaptured)
  }

  @Test func `whose Location is not a URL for HTTP fails`() throws {
    let run = try run(Self.registry)
    let result = try run.respond(
      to: .transfer, 202, headers: [("Location", "file:///etc/passwd"), ("Range", "0-9")])
    guard case .malformed(let problem)? = result.response?.transfer else {
      Issue.record("the Location is accepted")
      return
    }
    #expect(problem.contains("Location"))
    #expect(run.started.isEmpty)
  }

  @Test func `without the captures of later steps may be followed by another part, but not by the commit`()
    throws
  {
    let run = try run(Self.registry)
    try run.respond(to: .transfer, 202, headers: [("Range", "0-9")])
    try run.respond(to: .transfer, 202, headers: [("Range", "0-19")])
    let last = try run.respond(to: .transfer, 202, headers: [("Range", "0-24")])
    #expect(last.response?.missing?.code == .capture)
  }

  @Test func `has a 308 that is not a redirect`() throws {
    let run = try run(Self.google)
    let request = try run.request(.transfer)
    #expect(request.method == "PUT" && request.redirects.keeps308)
    #expect(request.headers.first { $0.name == "Content-Range" }?.value == "bytes 0-9/25")
    let result = try run.respond(to: .transfer, 308, headers: [("Range", "bytes=0-4")])
    #expect(result.response?.transfer == .offset(5))
    let next = try run.request(.transfer)
    #expect(part(next) == 5..<15)
  }

  @Test func `is followed by a query without a body after a loss`() throws {
    let run = try run(Self.google)
    try run.respond(to: .transfer, 308, headers: [("Range", "bytes=0-9")])
    var query = try run.attempt(.transfer)
    query.operation = .queryOffset
    let request = try run.requests.request(
      for: query, run.scheduler, &run.fetches, at: TestRun.start)
    #expect(request.method == "GET" && request.url == "http://h/up?state=0")
    guard case .none = request.body else {
      Issue.record("the query has a body")
      return
    }
    #expect(request.headers.map(\.name) == ["Cache-Control"])
  }

  @Test(arguments: [
    (#"{"nextExpectedRanges":["12-"]}"#, TransferReading.offset(12)),
    (" \n{\"a\":1,\"nextExpectedRanges\":[\"5-9\",\"3-4\"]}", .offset(3)),
    (#"{"nextExpectedRanges":[]}"#, .other), (#"{"id":"1"}"#, .other), ("", .other), ("<a/>", .other),
    ("{", .other),
    (
      #"{"nextExpectedRanges":[12]}"#,
      .malformed("'nextExpectedRanges' in the response is not an array of strings")
    ),
    (
      #"{"nextExpectedRanges":"12-"}"#,
      .malformed("'nextExpectedRanges' in the response is not an array of strings")
    ),
    (
      #"{"nextExpectedRanges":["-1"]}"#,
      .malformed("'nextExpectedRanges' in the response contains a malformed range")
    ),
    (
      "{\"a\":\"" + String(repeating: "a", count: 100_000) + "\"}",
      .malformed("the response is too large to be searched for 'nextExpectedRanges'")
    ),
  ])
  func `may have a response in JSON`(_ body: String, reading: TransferReading) {
    let answer = TransferResponse(status: 202, headers: [], body: Array(body.utf8), url: "http://h/")
    let machine = ContentRange(chunkSize: 10, form: .bytes, offsetQuery: .get)
    #expect(machine.read(answer, to: .send(0..<10), size: 25) == reading)
  }
}

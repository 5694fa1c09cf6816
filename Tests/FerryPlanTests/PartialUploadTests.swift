import FerryManifest
import FerrySimulation
import FerryWorld
import Testing

@testable import FerryPlan

/// `parallel_parts` of tus: partial uploads, which the last request concatenates.
@Suite struct `A partial upload of tus` {
  private static let machine = Tus(chunkSize: 100, parallelRequests: 3, threshold: 10)

  private static let yaml = """
    version: 1
    name: test
    sessions: { s: {} }
    uploads:
      up:
        session: s
        files: { root: . }
        retry: { limit: 2, initial: 1s }
        transfer:
          protocol: tus
          parallel_parts: 3
          threshold: 10B
          chunk_size: 100B
          metadata: { filename: "${file.name}" }
          expect: { status: [201] }
          request: { url: "http://host/files", headers: { X-Own: a } }

    """

  private static func response(_ status: Int, _ fields: [String: [String]] = [:]) -> StatedResponse {
    StatedResponse(status: status, fields: fields)
  }

  @Test func `has an equal share of the bytes, and the last one has the rest`() {
    let parts = (1...Self.machine.partCount(500)).map { Self.machine.range(ofPart: $0, size: 500) }
    #expect(parts == [0..<167, 167..<334, 334..<500])
    #expect([0, 1, 9, 10, 11].map { Self.machine.partCount($0) } == [1, 1, 1, 3, 3])
    #expect(Self.machine.partCount(4) == 1)
    #expect(Self.machine.requestCount(size: 500) == 6)
    #expect(Self.machine.longestRequest(size: 500) == 100)
  }

  @Test func `is created with the length of its part, and without metadata`() {
    let creation = Self.machine.request(for: .create(334..<334), size: 500)
    #expect(creation.method == "POST" && !creation.isForResource)
    #expect(
      creation.fields.map { "\($0.name): \($0.value)" }
        == ["Tus-Resumable: 1.0.0", "Upload-Length: 166", "Upload-Concat: partial"])
    let part = Self.machine.request(for: .send(434..<500), size: 500)
    #expect(part.method == "PATCH" && part.isForResource)
    #expect(part.fields.contains(.init(name: "Upload-Offset", value: "100")))
  }

  @Test func `is one of several resources of its file`() {
    let operations: [TransferOperation] = [
      .create(167..<167), .queryPart(3), .send(166..<167), .send(400..<500),
    ]
    #expect(operations.map { Self.machine.resourceNumber(of: $0, size: 500) } == [2, 3, 1, 3])
    #expect(Self.machine.resourceCount(size: 500) == 3 && Tus().resourceCount(size: 500) == 1)
  }

  @Test func `receives bytes only when all exist and the server has shown that it concatenates`() {
    let size: Int64 = 500
    var state = TransferState(isUncertain: true, hasResource: false)
    var started: [TransferOperation] = []
    func start() {
      while started.isEmpty || Self.machine.hasFurther(state, size: size) {
        let next = Self.machine.next(state, size: size)
        started.append(next)
        Self.machine.begin(next, in: &state, size: size)
      }
    }
    func end(_ offset: Int64) -> TransferProgress {
      let operation = started.removeFirst()
      Self.machine.end(operation, in: &state, size: size)
      return Self.machine.apply(.offset(offset), of: operation, to: &state, size: size)
    }
    start()
    #expect(started == [.create(0..<0), .create(167..<167), .create(334..<334)])
    for _ in 0..<2 { #expect(end(0) == .proceeds) }
    start()
    #expect(started == [.create(334..<334)])
    state.hasResource = true
    #expect(end(0) == .proceeds)
    start()
    #expect(started == [.queryPart(1)])
    #expect(end(0) == .proceeds)
    start()
    #expect(started == [.send(0..<100), .send(167..<267), .send(334..<434)])
    // The parts advance independently.
    #expect(end(50) == .proceeds)
    start()
    #expect(started == [.send(167..<267), .send(334..<434), .send(50..<150)])
    #expect(state.confirmedOffset == 50)
    #expect([end(100), end(100), end(150)] == [.proceeds, .proceeds, .proceeds])
    start()
    #expect(started == [.send(150..<167), .send(267..<334), .send(434..<500)])
    #expect([end(167), end(167), end(166)] == [.proceeds, .proceeds, .complete])
    #expect(state.confirmedOffset == size)
  }

  @Test func `is asked for its offset after a lost response, and no other upload is`() {
    var state = TransferState(isUncertain: false, hasResource: true)
    Self.machine.begin(.send(167..<267), in: &state, size: 500)
    for index in state.partials.indices { state.partials[index].isUncertain = false }
    Self.machine.end(.send(167..<267), in: &state, size: 500)
    Self.machine.lose(.send(167..<267), in: &state, size: 500)
    #expect(state.partials.map(\.isUncertain) == [false, true, false])
    #expect(Self.machine.next(state, size: 500) == .send(0..<100))
  }

  @Test(
    arguments: [
      ("partial", "167", nil), ("Partial", nil, nil), (nil, "167", "the concatenation extension of tus"),
      ("final;/a /b", "167", "the concatenation extension of tus"),
      ("partial", "500", "an upload length that differs from the part's 167 bytes"),
    ] as [(String?, String?, String?)])
  func `must be one at the server`(_ kind: String?, _ length: String?, _ problem: String?) {
    var fields = ["upload-offset": ["0"]]
    fields["upload-concat"] = kind.map { [$0] }
    fields["upload-length"] = length.map { [$0] }
    let reading = Self.machine.read(Self.response(200, fields), to: .queryPart(1), size: 500)
    guard let problem else {
      #expect(reading == .offset(0))
      return
    }
    let message: String
    switch reading {
    case .malformed(let text), .foreign(let text): message = text
    default:
      Issue.record("\(reading)")
      return
    }
    #expect(message.contains(problem))
  }

  @Test(arguments: [(101, 0), (-1, 0), (40, 1)] as [(Int64, Int)])
  func `cannot have more bytes than were sent to it, and must gain some`(_ offset: Int64, _ kind: Int) {
    var state = TransferState(isUncertain: false, hasResource: true)
    Self.machine.begin(.send(217..<267), in: &state, size: 500)
    state.partials[1].offset = 50
    let progress = Self.machine.apply(.offset(offset), of: .send(217..<267), to: &state, size: 500)
    switch progress {
    case .contradicts: #expect(kind == 0)
    case .stalled: #expect(kind == 1)
    case .complete, .proceeds: Issue.record("\(progress)")
    }
  }

  @Test func `is followed by a commit that concatenates, and has the expectation and the metadata`() throws {
    let world = try World(Self.yaml, files: ["up": ["f": 500]]) { _ in .status(200) }
    let steps = world.scheduler.plan.nodes.last?.steps ?? []
    #expect(steps.map(\.kind) == [.transfer, .commit, .abandon])
    #expect(steps.map(\.request.method) == ["POST", "POST", "DELETE"])
    #expect(steps.map(\.request.metadata.count) == [0, 1, 0])
    #expect(steps[1].expect.status == [201] && steps[1].repeatability == .once)
    #expect(
      steps[1].request.headers.map { "\($0.name): \($0.value)" }
        == ["X-Own: a", "Tus-Resumable: 1.0.0", "Upload-Concat: final;${allocate.concatenation}"])
  }

  @Test func `continues in the next launch under the URL that it was given`() throws {
    var created = 0
    var world = try World(Self.yaml, files: ["up": ["f": 250]]) { call in
      switch call.attempt.operation {
      case .create:
        created += 1
        var reply = Reply.status(201, offset: 0)
        reply.resource = (1, reply.after)
        return reply
      case .queryPart(let number): return .status(200, offset: [84, 30, 0][number - 1])
      case .send(let range):
        let part = Self.machine.range(
          ofPart: Self.machine.resourceNumber(of: .send(range), size: 250), size: 250)
        var reply = Reply.status(204, offset: range.upperBound - part.lowerBound)
        reply.sent = range.upperBound - range.lowerBound
        return reply
      case .queryOffset, .listParts, .whole: return .status(201)
      }
    }
    world.launch()
    while !world.starts.contains(where: { $0.attempt.operation == .queryPart(1) }), world.step() {}
    #expect(created == 3)
    world.run()
    #expect(created == 3)
    let operations = world.starts.filter { $0.attempt.step == .transfer }.map(\.attempt.operation)
    #expect(operations == [.queryPart(1), .queryPart(2), .queryPart(3), .send(114..<168), .send(168..<250)])
    #expect(world.starts.last?.attempt.step == .commit)
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [("a b c", true), ("a b", false), (nil, false)] as [(String?, Bool)])
  func `is continued only with the same number of parts`(_ urls: String?, _ isContinued: Bool) {
    #expect(Self.machine.continues(partialUploads: urls, size: 500) == isContinued)
    #expect(Tus().continues(partialUploads: urls, size: 500) == (urls == nil))
  }
}

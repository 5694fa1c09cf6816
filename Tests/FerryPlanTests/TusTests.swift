import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// The requests and responses of tus 1.0.0.
@Suite struct `A tus upload` {
  private static let whole = Tus()
  private static let chunked = Tus(chunkSize: 100)

  private func state(_ offset: Int64 = 0, isUncertain: Bool = false) -> TransferState {
    var state = TransferState(isUncertain: isUncertain)
    state.confirmedOffset = offset
    return state
  }

  @Test func `sends the rest of the file in one request unless there is a chunk size`() {
    #expect(Self.whole.next(state(), size: 250) == .send(0..<250))
    #expect(Self.whole.next(state(99), size: 250) == .send(99..<250))
    #expect(Self.chunked.next(state(200), size: 250) == .send(200..<250))
    #expect([0, 1, 100, 101].map { Self.chunked.requestCount(size: $0) } == [1, 1, 1, 2])
    #expect(Self.whole.requestCount(size: 1 << 40) == 1)
  }

  @Test func `of an empty file is complete when it has been created`() {
    #expect(Self.whole.next(state(), size: 0) == .queryOffset)
    var empty = state()
    #expect(Self.whole.apply(.offset(0), of: .queryOffset, to: &empty, size: 0) == .complete)
  }

  @Test func `states its version, and the offset of its bytes`() {
    let part = Self.whole.request(for: .send(5..<9), size: 9)
    #expect(part.method == nil)
    #expect(
      part.fields.map { "\($0.name): \($0.value)" } == [
        "Tus-Resumable: 1.0.0", "Upload-Offset: 5", "Content-Type: application/offset+octet-stream",
      ])
    let query = Self.whole.request(for: .queryOffset, size: 9)
    #expect(query.method == "HEAD" && query.fields.map(\.name) == ["Tus-Resumable"])
  }

  @Test func `states the checksum of its bytes if the manifest asks for it`() {
    let machine = Tus(chunkSize: 100, checksum: .crc32)
    let checksum = machine.request(for: .send(0..<9), size: 9).checksum
    #expect(checksum?.field == "Upload-Checksum" && checksum?.prefix == "crc32 ")
    #expect(checksum?.algorithm == .crc32)
    #expect(machine.request(for: .queryOffset, size: 9).checksum == nil)
    #expect(Self.whole.request(for: .send(0..<9), size: 9).checksum == nil)
  }

  struct Row: Sendable {
    var operation: TransferOperation
    var response: StatedResponse
    var reading: TransferReading
  }

  private static func row(
    _ operation: TransferOperation, _ status: Int, _ fields: [String: [String]], _ reading: TransferReading
  ) -> Row {
    Row(operation: operation, response: StatedResponse(status: status, fields: fields), reading: reading)
  }

  static let rows = [
    row(.send(0..<100), 204, ["upload-offset": ["100"]], .offset(100)),
    row(.send(0..<100), 204, ["upload-offset": ["60"]], .offset(60)),
    row(.send(100..<250), 204, ["upload-offset": ["250"]], .other),
    row(.send(0..<100), 204, [:], .malformed("the response has no Upload-Offset")),
    row(
      .send(0..<100), 204, ["upload-offset": ["1", "2"]],
      .malformed("the Upload-Offset of the response is malformed")),
    row(
      .send(0..<100), 204, ["upload-offset": ["-1"]],
      .malformed("the Upload-Offset of the response is malformed")),
    row(.queryOffset, 200, ["upload-offset": ["70"], "upload-length": ["250"]], .offset(70)),
    row(.queryOffset, 200, ["upload-offset": ["250"], "upload-length": ["250"]], .offset(250)),
    row(
      .queryOffset, 200, ["upload-offset": ["70"], "upload-length": ["251"]],
      .foreign("the server states an upload length that differs from the file's 250 bytes")),
    row(.send(0..<100), 409, [:], .refused), row(.send(0..<100), 423, [:], .refused),
    row(.send(0..<100), 460, [:], .refused),
    row(.queryOffset, 403, [:], .gone), row(.queryOffset, 404, [:], .gone),
    row(.send(0..<100), 410, [:], .gone),
    row(.send(0..<100), 413, [:], .other), row(.send(0..<100), 503, ["upload-offset": ["1"]], .other),
  ]

  @Test(arguments: rows)
  func `is judged by its responses`(_ row: Row) {
    #expect(Self.chunked.read(row.response, to: row.operation, size: 250) == row.reading)
  }

  // MARK: In a launch

  private static let yaml =
    Yaml.head + """
      uploads:
        up:
          session: s
          files: { root: . }
          retry: { limit: 2, initial: 1s }
          transfer:
            protocol: tus
            metadata: { filename: "${file.name}" }
            request: { url: "http://host/files", headers: { X-Own: a } }
      """

  @Test func `is created and terminated by steps that the protocol adds`() throws {
    let world = try World(Self.yaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    let steps = world.scheduler.plan.nodes.last?.steps ?? []
    #expect(steps.map(\.kind) == [.allocate, .transfer, .abandon])
    #expect(steps.map(\.request.method) == ["POST", "PATCH", "DELETE"])
    #expect(
      steps.map(\.request.url.description)
        == ["http://host/files", "${allocate.url}", "${allocate.url}"])
    #expect(
      steps[0].request.headers.map { "\($0.name): \($0.value)" }
        == ["X-Own: a", "Tus-Resumable: 1.0.0", "Upload-Length: ${file.size}"])
    #expect(steps.map(\.request.metadata.count) == [1, 0, 0])
  }

  @Test func `is created again if the server no longer has it`() throws {
    var world = try World(Self.yaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    var allocated = 0
    world.serve = { call in
      switch (call.step, call.attempt.operation) {
      case (.allocate, _):
        allocated += 1
        var reply = Reply.status(201)
        reply.uploadID = allocated
        return reply
      case (.transfer, .send) where allocated == 1:
        var reply = Reply.status(403)
        guard case .response(var response) = reply.answer else { return reply }
        response.transfer = .gone
        reply.answer = .response(response)
        return reply
      case (.transfer, _): return .status(204)
      default: return .status(204)
      }
    }
    world.run()
    #expect(allocated == 2)
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.starts.allSatisfy { $0.attempt.step != .abandon })
  }

  // MARK: Creation with bytes

  private static let creating = Tus(chunkSize: 100, createsWithBytes: true)

  @Test func `is created with its first bytes if the manifest asks for it`() {
    var state = TransferState(isUncertain: true, hasResource: false)
    #expect(Self.creating.next(state, size: 250) == .create(0..<100))
    #expect(Self.creating.next(state, size: 30) == .create(0..<30))
    #expect(Self.creating.next(state, size: 0) == .create(0..<0))
    #expect(Tus(createsWithBytes: true).next(state, size: 250) == .create(0..<250))
    state.hasResource = true
    #expect(Self.creating.next(state, size: 250) == .queryOffset)
    state.isUncertain = false
    #expect(Self.creating.next(state, size: 250) == .send(0..<100))
    #expect(Self.creating.requestCount(size: 250) == 3)
  }

  @Test func `states the length and the type of its first bytes, and then uses its URL`() {
    let creation = Self.creating.request(for: .create(0..<100), size: 250)
    #expect(creation.method == "POST" && !creation.isForResource)
    #expect(
      creation.fields.map { "\($0.name): \($0.value)" } == [
        "Tus-Resumable: 1.0.0", "Upload-Length: 250", "Content-Type: application/offset+octet-stream",
      ])
    let empty = Self.creating.request(for: .create(0..<0), size: 0)
    #expect(empty.fields.map(\.name) == ["Tus-Resumable", "Upload-Length"] && empty.checksum == nil)
    let part = Self.creating.request(for: .send(100..<200), size: 250)
    #expect(part.method == "PATCH" && part.isForResource)
    let query = Self.creating.request(for: .queryOffset, size: 250)
    #expect(query.method == "HEAD" && query.isForResource)
  }

  static let creationRows = [
    row(.create(0..<100), 201, ["upload-offset": ["100"]], .offset(100)),
    row(.create(0..<100), 201, ["upload-offset": ["60"]], .offset(60)),
    // The server has stored no bytes.
    row(.create(0..<100), 201, [:], .offset(0)), row(.create(0..<250), 201, [:], .offset(0)),
    row(.create(0..<250), 201, ["upload-offset": ["250"]], .other),
    row(
      .create(0..<100), 201, ["upload-offset": ["x"]],
      .malformed("the Upload-Offset of the response is malformed")),
    row(.create(0..<100), 404, [:], .other), row(.create(0..<100), 403, [:], .other),
    row(.create(0..<100), 413, [:], .other), row(.create(0..<100), 460, [:], .refused),
  ]

  @Test(arguments: creationRows)
  func `is judged by the response to its creation`(_ row: Row) {
    #expect(Self.creating.read(row.response, to: row.operation, size: 250) == row.reading)
  }

  @Test(
    arguments: [
      (100, 250, .proceeds), (60, 250, .proceeds), (0, 250, .proceeds), (0, 0, .complete),
      (100, 100, .complete),
    ] as [(Int64, Int64, TransferProgress)])
  func `continues at the offset after its creation`(_ offset: Int64, size: Int64, progress: TransferProgress)
  {
    var state = TransferState(isUncertain: true)
    let operation = TransferOperation.create(0..<min(size, 100))
    #expect(Self.creating.apply(.offset(offset), of: operation, to: &state, size: size) == progress)
    #expect(state.confirmedOffset == offset && !state.isUncertain)
  }

  @Test func `has its URL from a successful response to its creation`() {
    let fields = ["location": ["/files/1"]]
    let created = StatedResponse(status: 201, fields: fields)
    #expect(Self.creating.resource(in: created, to: .create(0..<100)) == "/files/1")
    #expect(Self.creating.resource(in: created, to: .send(0..<100)) == nil)
    for status in [104, 308, 409] {
      let other = StatedResponse(status: status, fields: fields)
      #expect(Self.creating.resource(in: other, to: .create(0..<100)) == nil)
    }
  }

  private static let creatingYaml = chunkedYaml.replacing(
    "protocol: tus", with: "protocol: tus\n      creation: with_upload")

  /// The response of a server that has created upload 1 with bytes in the same request.
  private static func created(_ offset: Int64, at url: String? = nil) -> Reply {
    var reply = Reply.status(201, offset: offset)
    reply.resource = (1, reply.after)
    if let origin = url.flatMap(Origin.init) {
      reply.resourceOrigins = [.transfer: origin, .abandon: origin]
    }
    return reply
  }

  @Test func `created by its transfer has no step that allocates it`() throws {
    let world = try World(Self.creatingYaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    let steps = world.scheduler.plan.nodes.last?.steps ?? []
    #expect(steps.map(\.kind) == [.transfer, .abandon])
    #expect(steps.map(\.request.method) == ["POST", "DELETE"])
    #expect(steps.map(\.request.url.description) == ["http://host/files", "${allocate.resource}"])
    #expect(
      steps[1].request.headers.map { "\($0.name): \($0.value)" } == ["X-Own: a", "Tus-Resumable: 1.0.0"])
    #expect(steps.map(\.request.metadata.count) == [1, 0])
    #expect(steps[0].repeatability == .repeatable)
  }

  @Test(arguments: [100, 60, 0] as [Int64], [nil, "http://other/files/1"])
  func `is sent in parts after its creation`(_ offset: Int64, _ url: String?) throws {
    var world = try World(Self.creatingYaml, files: ["up": ["f": 250]]) { call in
      switch call.attempt.operation {
      case .create: Self.created(offset, at: url)
      case .send(let range) where range.upperBound < 250: .status(204, offset: range.upperBound)
      default: .status(204)
      }
    }
    world.run()
    let operations = world.starts.map(\.attempt.operation)
    #expect(operations.prefix(2) == [.create(0..<100), .send(offset..<min(250, offset + 100))])
    #expect(operations.count == (offset == 0 ? 4 : 3))
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.entries.contains { if case .uploadIDAllocated = $0 { true } else { false } })
  }

  @Test func `is created again if the response to its creation is lost`() throws {
    var world = try World(Self.creatingYaml, files: ["up": ["f": 80]]) { call in
      var reply = call.number == 1 ? Reply.lost : .status(201)
      reply.sent = 80
      return reply
    }
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<80), .create(0..<80)])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.metrics.usefulBytes == 80 && world.scheduler.metrics.resentBytes == 80)
  }

  @Test func `continues in the next launch after a kill, under the URL that its creation was given`() throws {
    var world = try World(Self.creatingYaml, files: ["up": ["f": 250]]) { call in
      switch call.attempt.operation {
      case .create: return Self.created(100)
      case .queryOffset: return .status(204, offset: 160)
      case .send(let range) where range.lowerBound == 100:
        var reply = Reply.status(204)
        reply.after = .seconds(100)
        return reply
      case .send, .queryPart, .listParts, .whole: return .status(204)
      }
    }
    world.launch()
    while world.starts.count < 2, world.step() {}
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.queryOffset, .send(160..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `fails if it is incomplete and has no URL`() throws {
    var world = try World(Self.creatingYaml, files: ["up": ["f": 250]]) { _ in .status(201, offset: 100) }
    world.run()
    #expect(world.starts.count == 1 && world.scheduler.totals.items.failed == 1)
  }

  // MARK: Expiry

  private static let chunkedYaml = yaml.replacing(
    "protocol: tus", with: "protocol: tus\n      chunk_size: 100B")

  /// A server whose uploads expire 50 seconds after the request that creates them. Each request takes 20 seconds.
  ///
  /// - Parameter extends: whether each part extends the expiry to 50 seconds after it.
  private static func expiring(_ world: World, extends: Bool) -> (Call) -> Reply {
    let start = world.start
    return { call in
      func reply(_ reply: Reply, expires: Duration?) -> Reply {
        var reply = reply
        reply.after = .seconds(20)
        guard let expires, case .response(var response) = reply.answer else { return reply }
        response.uploadExpires = call.now.advanced(by: expires)
        reply.answer = .response(response)
        return reply
      }
      switch (call.step, call.attempt.operation) {
      case (.allocate, _):
        var created = reply(.status(201), expires: .seconds(50))
        created.uploadID = Int(start.duration(to: call.now).seconds) + 1
        return created
      case (.transfer, .send(let range)) where range.upperBound < call.fileSize:
        return reply(.status(204, offset: range.upperBound), expires: extends ? .seconds(50) : nil)
      default: return reply(.status(204), expires: nil)
      }
    }
  }

  @Test func `is not continued after its expiry`() throws {
    var world = try World(Self.chunkedYaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    world.serve = Self.expiring(world, extends: false)
    world.run()
    // Two parts are sent, after 20 and 40 seconds. The upload expires after 50 seconds.
    let steps = world.starts.map(\.attempt.step)
    #expect(steps.prefix(3) == [.allocate, .transfer, .transfer])
    #expect(steps.count { $0 == .allocate } > 1)
    #expect(steps.count { $0 == .transfer } == 2 * steps.count { $0 == .allocate })
    #expect(steps.count { $0 == .abandon } == steps.count { $0 == .allocate })
    #expect(world.scheduler.totals.items.done == 0)
  }

  @Test func `is continued for as long as each part extends its expiry`() throws {
    var world = try World(Self.chunkedYaml, files: ["up": ["f": 500]]) { _ in .status(200) }
    world.serve = Self.expiring(world, extends: true)
    world.run()
    #expect(world.scheduler.totals.items.done == 1 && world.scheduler.metrics.idsExpired == 0)
    #expect(world.starts.count { $0.attempt.step == .allocate } == 1)
    let updates = world.entries.compactMap {
      if case .uploadIDUpdated(_, let expires) = $0 { expires } else { nil }
    }
    // The first part waits for a millisecond until the journal has the upload ID.
    #expect(
      updates == [40, 60, 80, 100].map { world.start.advanced(by: .seconds($0 + 30) + .milliseconds(1)) })
  }
}

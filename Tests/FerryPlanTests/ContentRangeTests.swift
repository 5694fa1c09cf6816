import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Uploads in parts whose requests contain the position in `Content-Range`.
@Suite struct `An upload session` {
  private static let google = ContentRange(chunkSize: 100, form: .bytes, offsetQuery: .put)
  private static let registry = ContentRange(chunkSize: 100, form: .bare, offsetQuery: .get)

  private func state(_ offset: Int64 = 0, isUncertain: Bool = false) -> TransferState {
    var state = TransferState(isUncertain: isUncertain)
    state.confirmedOffset = offset
    return state
  }

  @Test func `sends the file in parts`() {
    #expect(Self.google.next(state(), size: 250) == .send(0..<100))
    #expect(Self.google.next(state(100), size: 250) == .send(100..<200))
    #expect(Self.google.next(state(200), size: 250) == .send(200..<250))
    #expect(Self.google.next(state(), size: 0) == .send(0..<0))
    #expect([0, 1, 100, 101, 200].map { Self.google.requestCount(size: $0) } == [1, 1, 1, 2, 2])
  }

  @Test func `asks for the offset if it is uncertain, or if the upload was not completed`() {
    #expect(Self.google.next(state(100, isUncertain: true), size: 250) == .queryOffset)
    #expect(Self.google.next(state(250), size: 250) == .queryOffset)
  }

  @Test func `continues from the offset of the server`() {
    var transfer = state(100)
    #expect(Self.google.apply(.offset(150), of: .send(100..<200), to: &transfer, size: 250) == .proceeds)
    #expect(transfer == state(150))
    transfer = state(100, isUncertain: true)
    #expect(Self.google.apply(.offset(200), of: .queryOffset, to: &transfer, size: 250) == .proceeds)
    #expect(transfer.confirmedOffset == 200 && !transfer.isUncertain)
  }

  @Test func `is complete after the last part, or if the server says so`() {
    var transfer = state(200)
    transfer.sentThrough = 250
    #expect(Self.google.apply(.other, of: .send(200..<250), to: &transfer, size: 250) == .complete)
    #expect(Self.google.apply(.other, of: .queryOffset, to: &transfer, size: 250) == .complete)
    #expect(Self.registry.apply(.offset(250), of: .send(200..<250), to: &transfer, size: 250) == .complete)
    #expect(Self.registry.apply(.offset(250), of: .queryOffset, to: &transfer, size: 250) == .complete)
  }

  @Test func `has failed if the server states bytes that it cannot have`() {
    for (offset, operation) in [
      (251, .queryOffset), (-1, .queryOffset), (201, .send(100..<200)), (nil, .send(100..<200)),
    ] as [(Int64?, TransferOperation)] {
      var transfer = state(100)
      guard
        case .contradicts = Self.google.apply(
          offset.map { .offset($0) } ?? .other, of: operation, to: &transfer, size: 250)
      else {
        Issue.record("\(String(describing: offset)) after \(operation)")
        continue
      }
    }
  }

  @Test func `waits if the server has stored nothing, lost bytes or does not complete`() {
    for (offset, operation) in [
      (100, .send(100..<200)), (50, .send(100..<200)), (50, .queryOffset), (250, .queryOffset),
    ] as [(Int64, TransferOperation)] {
      var transfer = state(100)
      transfer.sentThrough = 250
      guard case .stalled = Self.google.apply(.offset(offset), of: operation, to: &transfer, size: 250) else {
        Issue.record("\(offset) after \(operation)")
        continue
      }
      #expect(transfer.confirmedOffset == offset)
    }
    var empty = state()
    guard case .stalled = Self.google.apply(.offset(0), of: .send(0..<0), to: &empty, size: 0) else {
      Issue.record("an empty file that the server does not complete")
      return
    }
  }

  @Test func `has failed if the server states in reply to a query that it has more bytes than were sent`() {
    for reading in [.other, .offset(250), .offset(101)] as [TransferReading] {
      var transfer = state()
      transfer.sentThrough = 100
      guard case .contradicts = Self.google.apply(reading, of: .queryOffset, to: &transfer, size: 250) else {
        Issue.record("\(reading)")
        continue
      }
      // An earlier launch may have sent the rest.
      var inherited = state(isUncertain: true)
      guard case .contradicts = Self.google.apply(reading, of: .queryOffset, to: &inherited, size: 250) else {
        continue
      }
      Issue.record("\(reading) after an earlier launch")
    }
    var sent = state()
    sent.sentThrough = 100
    #expect(Self.google.apply(.offset(100), of: .queryOffset, to: &sent, size: 250) == .proceeds)
  }

  @Test(
    arguments: [
      (1, 40_000, true), (19_999, 40_000, true), (20_000, 40_000, false), (65_535, 1 << 20, true),
      (65_536, 1 << 20, false), (1, 2, false), (1, 3, false), (1, 4, true),
    ] as [(Int64, Int64, Bool)])
  func `waits if the server has stored only a little of a part`(_ stored: Int64, of part: Int64, waits: Bool)
  {
    for operation in [TransferOperation.send(100..<100 + part), .create(100..<100 + part)] {
      var transfer = state(100)
      let progress = Self.google.apply(.offset(100 + stored), of: operation, to: &transfer, size: 1 << 30)
      #expect(
        progress
          == (waits
            ? .stalled("the server has stored only \(stored) of the \(part) bytes that were sent to it")
            : .proceeds))
      #expect(transfer.confirmedOffset == 100 + stored)
    }
  }

  // MARK: In a launch

  /// The first request for an empty file was lost, and the server has nothing to complete.
  @Test func `sends an empty file after a query that states its size`() {
    var state = TransferState(isUncertain: true)
    let machine = ContentRange(chunkSize: 100, form: .bytes, offsetQuery: .get)
    #expect(machine.apply(.offset(0), of: .queryOffset, to: &state, size: 0) == .proceeds)
    #expect(machine.next(state, size: 0) == .send(0..<0))
  }

  /// Bytes that were announced, but not sent, cannot be at the server.
  @Test(arguments: [(40, false), (100, true)])
  func `believes only bytes that were sent`(_ sent: Int64, isBelieved: Bool) {
    var state = TransferState(isUncertain: false)
    (state.sentThrough, state.isUncertain) = (sent, true)
    let progress = Self.google.apply(.offset(100), of: .queryOffset, to: &state, size: 200)
    #expect((progress == .proceeds) == isBelieved)
  }

  private static let yaml =
    Yaml.head + """
      uploads:
        up:
          session: s
          files: { root: . }
          retry: { limit: 2, initial: 1s }
          allocate: { request: { method: POST, url: "http://host/up" }, capture: { id: { json: /id } } }
          transfer: { protocol: content_range, chunk_size: 100B, request: { url: "http://host/${allocate.id}" } }
      """

  /// Runs one launch with a file of 250 bytes; returns the operations of its transfer.
  private func operations(
    in world: inout World, _ serve: @escaping (TransferOperation, Int) -> Reply
  ) -> [TransferOperation] {
    var (count, allocated) = (0, 0)
    world.serve = { call in
      guard call.step == .transfer else {
        allocated += 1
        var reply = Reply.status(200)
        reply.uploadID = allocated
        return reply
      }
      count += 1
      return serve(call.attempt.operation, count)
    }
    world.run()
    return world.starts.filter { $0.attempt.step == .transfer }.map(\.attempt.operation)
  }

  private func world() throws -> World {
    try World(Self.yaml, files: ["up": ["f": 250]]) { _ in .status(200) }
  }

  @Test func `asks for the offset after a lost response, and sends only the rest`() throws {
    var world = try world()
    let operations = operations(in: &world) { operation, number in
      switch (operation, number) {
      case (.send(let range), 2) where range == 100..<200: .lost
      case (.queryOffset, _): .status(308, offset: 150)
      case (.send(let range), _) where range.upperBound < 250: .status(308, offset: range.upperBound)
      default: .status(200)
      }
    }
    #expect(operations == [.send(0..<100), .send(100..<200), .queryOffset, .send(150..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `asks for the offset in the next launch`() throws {
    var world = try world()
    let first = operations(in: &world) { operation, number in
      number == 1 ? .status(308, offset: 100) : .status(503)
    }
    #expect(first.prefix(2) == [.send(0..<100), .send(100..<200)])
    #expect(world.scheduler.totals.items.waiting == 1)
    let second = operations(in: &world) { operation, _ in
      operation == .queryOffset ? .status(308, offset: 200) : .status(201)
    }
    #expect(second == [.queryOffset, .send(200..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `counts retries only while the server does not confirm more bytes`() throws {
    var world = try world()
    // Before the server stores a part, it responds to the part with 503 twice, which is the limit.
    var stored: Int64 = 0
    var refusals = 0
    _ = operations(in: &world) { operation, _ in
      guard case .send(let range) = operation else { return .status(308, offset: stored) }
      refusals += 1
      guard refusals > 2 else { return .status(503) }
      (refusals, stored) = (0, range.upperBound)
      return stored == 250 ? .status(200) : .status(308, offset: stored)
    }
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `is given up if the server loses its bytes repeatedly`() throws {
    var world = try world()
    let operations = operations(in: &world) { operation, _ in
      if case .send(let range) = operation { return .status(308, offset: range.upperBound == 200 ? 0 : 100) }
      return .status(308, offset: 0)
    }
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(operations.count <= 8)
  }

  @Test func `starts over with another upload ID if the session has ended`() throws {
    var world = try world()
    let operations = operations(in: &world) { operation, number in
      if number == 2 { return .status(404) }
      guard case .send(let range) = operation, range.upperBound < 250 else { return .status(200) }
      return .status(308, offset: range.upperBound)
    }
    #expect(
      operations == [.send(0..<100), .send(100..<200), .send(0..<100), .send(100..<200), .send(200..<250)])
  }

  @Test func `keeps its offset when its token is replaced`() throws {
    let token = """
      tokens:
        t: { session: s, request: { method: POST, url: "http://host/t" }, capture: { a: { json: /a } }, apply: { header: A, value: "${token.a}" } }

      """
    let yaml = Self.yaml.replacing("uploads:", with: token + "uploads:").replacing(
      "    session: s\n    files", with: "    session: s\n    token: t\n    files")
    var world = try World(yaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    let operations = operations(in: &world) { operation, number in
      if number == 2 { return .status(401) }
      guard case .send(let range) = operation, range.upperBound < 250 else { return .status(200) }
      return .status(308, offset: range.upperBound)
    }
    #expect(operations == [.send(0..<100), .send(100..<200), .send(100..<200), .send(200..<250)])
  }

  @Test func `sends all parts of a file before those of the next`() throws {
    var world = try World(
      Self.yaml.replacing("per_host: 2", with: "per_host: 1"),
      files: ["up": ["f": 250, "g": 250]]
    ) { _ in .status(200) }
    _ = operations(in: &world) { operation, _ in
      guard case .send(let range) = operation, range.upperBound < 250 else { return .status(200) }
      return .status(308, offset: range.upperBound)
    }
    #expect(world.scheduler.totals.items.done == 2)
    #expect(
      world.starts.filter { $0.attempt.step == .transfer }.map(\.path) == ["f", "f", "f", "g", "g", "g"])
  }

  @Test func `confirms no bytes by a statement that contradicts the requests`() throws {
    var world = try world()
    _ = operations(in: &world) { _, _ in
      var reply = Reply.status(308, offset: 201)
      reply.sent = 100
      return reply
    }
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.totals.bytes.useful == 0 && world.scheduler.totals.bytes.resent == 100)
    #expect(world.scheduler.itemRecords.first?.attempts.map(\.code) == [.unexpectedResponse])
  }

  /// Without a commit, only the last part can deliver the file.
  @Test(arguments: [(2, false), (3, true)])
  func `may be complete only after its last part`(lost: Int, isInDoubt: Bool) throws {
    var world = try world()
    _ = operations(in: &world) { operation, number in
      if number >= lost { return number == lost ? .lost : .status(400) }
      guard case .send(let range) = operation else { return .status(400) }
      return .status(308, offset: range.upperBound)
    }
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.machine.journal.orphans.values.flatMap(\.self).map(\.orphaning.isInDoubt) == [isInDoubt])
  }

  /// Another file may have been sent in the same upload session. Releasing the session could delete that
  /// file.
  @Test(arguments: [.offset(150), .foreign("made up")] as [TransferReading])
  func `that has more bytes than were sent is not released`(_ reading: TransferReading) throws {
    var world = try world()
    _ = operations(in: &world) { operation, _ in
      operation == .queryOffset ? .status(200, transfer: reading) : .lost
    }
    #expect(world.scheduler.totals.items.failed == 1)
    let orphans = world.machine.journal.orphans.values.flatMap(\.self)
    #expect(orphans.map(\.orphaning.isInDoubt) == [true])
  }

  @Test func `is not complete if the server says so before all bytes were sent`() throws {
    var world = try world()
    let sent = operations(in: &world) { operation, _ in operation == .queryOffset ? .status(200) : .lost }
    #expect(sent == [.send(0..<100), .queryOffset])
    #expect(world.scheduler.totals.items.done == 0 && world.scheduler.totals.items.failed == 1)
    #expect(
      world.scheduler.itemRecords.first?.reason?.message
        == "the server completed the upload after 100 of 250 bytes")
  }
}

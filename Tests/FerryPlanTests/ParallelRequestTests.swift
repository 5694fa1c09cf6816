import FerryManifest
import FerrySimulation
import FerryWorld
import Testing

@testable import FerryPlan

/// Sends the parts of a file in parallel, in a launch on the virtual clock.
@Suite struct `Parts that are sent in parallel` {
  private func yaml(parallel: Int = 3, connections: Int = 6) -> String {
    """
    version: 1
    name: test
    sessions: { s: { max_connections_per_host: \(connections) } }
    uploads:
      up:
        session: s
        files: { root: . }
        retry: { limit: 2, initial: 1s }
        transfer:
          protocol: s3_multipart
          part_size: 100B
          threshold: 100B
          parallel_parts: \(parallel)
          request: { url: "http://host/bucket/${file.path}" }

    """
  }

  /// A world with one file of five parts. The closure responds to requests for parts and receives their numbers.
  private func world(
    parallel: Int = 3, connections: Int = 6, files: [String: Int64] = ["f": 500],
    _ part: @escaping (Call, Int) -> Reply
  ) throws -> World {
    var (sent, allocated) = (0, 0)
    return try World(yaml(parallel: parallel, connections: connections), files: ["up": files]) { call in
      switch (call.step, call.attempt.operation) {
      case (.allocate, _):
        allocated += 1
        var reply = Reply.status(200)
        reply.uploadID = allocated
        return reply
      case (.transfer, .send):
        sent += 1
        return part(call, sent)
      default: return .status(200)
      }
    }
  }

  private static func stored(after seconds: Int) -> Reply {
    var reply = Reply.status(200, after: .seconds(seconds), transfer: .part(etag: "\"e\"", nil))
    reply.sent = 100
    return reply
  }

  private func sends(_ world: World) -> [Int64] {
    world.starts.compactMap { start in
      if case .send(let range) = start.attempt.operation { range.lowerBound / 100 + 1 } else { nil }
    }
  }

  @Test(arguments: [(1, 6, 1), (3, 6, 3), (9, 6, 5), (3, 2, 2)])
  func `use as many connections as the manifest allows`(_ parallel: Int, _ connections: Int, _ most: Int)
    throws
  {
    var world = try world(parallel: parallel, connections: connections) { _, _ in Self.stored(after: 1) }
    world.run()
    #expect(world.mostInFlight == most)
    #expect(sends(world) == [1, 2, 3, 4, 5])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.totals.bytes.useful == 500 && world.scheduler.totals.bytes.resent == 0)
  }

  @Test func `do not start after one of them has failed, which is sent again when the others have ended`()
    throws
  {
    var world = try world { _, number in
      number == 2 ? .status(503, after: .seconds(1)) : Self.stored(after: 3)
    }
    world.run()
    // Parts 1 and 3 end after three seconds. Only then does the wait for the retry begin.
    #expect(sends(world) == [1, 2, 3, 2, 4, 5])
    let again = world.starts[4].at
    #expect(world.start.duration(to: again) >= .seconds(4))
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `are stopped if the server no longer has the upload`() throws {
    var world = try world { call, number in
      if number == 1 { return .status(404, after: .seconds(1)) }
      return Self.stored(after: number <= 3 ? 60 : 1)
    }
    world.run()
    #expect(world.actions.count { if case .cancel = $0 { true } else { false } } == 2)
    #expect(sends(world) == [1, 2, 3, 1, 2, 3, 4, 5])
    #expect(world.scheduler.totals.idsExpired == 1)
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `replace a rejected token once`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 6 } }
      tokens:
        t:
          session: s
          request: { method: POST, url: "http://auth/" }
          capture: { access_token: { json: /t } }
          apply: { header: Authorization, value: "${token.access_token}" }

      """
    let upload = yaml().split(separator: "\n").drop { $0 != "uploads:" }.joined(separator: "\n")
      .replacing("    session: s\n", with: "    session: s\n    token: t\n")
    var sent = 0
    var world = try World(head + upload, files: ["up": ["f": 500]]) { call in
      guard call.step == .transfer else {
        var reply = Reply.status(200)
        if call.step == .allocate { reply.uploadID = 1 }
        return reply
      }
      sent += 1
      return sent <= 3 ? .status(401, after: .seconds(sent)) : Self.stored(after: 1)
    }
    world.run()
    #expect(world.starts.count { $0.attempt.step == .token } == 2)
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `end with a cancellation, even after another of them has failed`() throws {
    var world = try world { _, number in
      number == 1 ? .status(503, after: .seconds(1)) : Self.stored(after: 60)
    }
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(2)))
    world.run()
    #expect(sends(world) == [1, 2, 3])
    #expect(world.scheduler.totals.items.cancelled == 1)
  }

  @Test func `of one file precede those of the next`() throws {
    var world = try world(connections: 2, files: ["a": 400, "b": 400]) { _, _ in Self.stored(after: 1) }
    world.run()
    let parts = world.starts.filter { if case .send = $0.attempt.operation { true } else { false } }
    #expect(parts.map(\.path) == ["a", "a", "a", "a", "b", "b", "b", "b"])
  }

  @Test func `of one file do not delay the completion of another`() throws {
    var world = try world(connections: 2, files: ["a": 200, "b": 1_000]) { _, _ in Self.stored(after: 1) }
    world.run()
    let steps = world.starts.map { "\($0.path) \($0.attempt.step)" }
    let completion = try #require(steps.firstIndex(of: "a commit"))
    #expect(steps[..<completion].count { $0 == "b transfer" } <= 2)
  }

  @Test func `do not start after a cancellation, even if one of them completes`() throws {
    var world = try world(parallel: 2) { _, number in
      var reply = Self.stored(after: 10 + number)
      // If a request is about to end when it is canceled, its result counts.
      reply.lingers = .seconds(30)
      return reply
    }
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(2)))
    world.run()
    #expect(sends(world) == [1, 2])
    #expect(world.scheduler.totals.items.cancelled == 1)
  }
}

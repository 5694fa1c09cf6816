import FerryManifest
import FerrySimulation
import Testing

@testable import FerryPlan

/// Resumable uploads in launches.
@Suite struct `A launch of resumable uploads` {
  private static func yaml(_ method: String = "POST", _ more: String = "") -> String {
    Yaml.head + """
      uploads:
        up:
          session: s
          files: { root: . }
          retry: { limit: 2, initial: 1s }
          transfer:
            protocol: resumable
            \(more)
            request:
              method: \(method)
              url: "http://host/files"
              headers: { X-Own: a, Content-Type: image/png, Content-Disposition: inline }
      """
  }

  /// A response that assigns an upload resource after 5 ms and ends after 10 ms.
  private static func assigning(_ reply: Reply) -> Reply {
    var reply = reply
    reply.resource = (1, .milliseconds(5))
    return reply
  }

  @Test func `cancels its uploads with a step that the protocol adds`() throws {
    let world = try World(Self.yaml(), files: ["up": ["f": 250]]) { _ in .status(200) }
    let steps = world.scheduler.plan.nodes.last?.steps ?? []
    #expect(steps.map(\.kind) == [.transfer, .abandon])
    #expect(steps.map(\.request.method) == ["POST", "DELETE"])
    #expect(steps.map(\.request.url.description) == ["http://host/files", "${allocate.resource}"])
    #expect(
      steps[1].request.headers.map { "\($0.name): \($0.value)" }
        == ["X-Own: a", "Upload-Draft-Interop-Version: 6"])
  }

  @Test func `sends one plain request to a server that ignores the protocol`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { _ in .status(201) }
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `does not repeat a POST without a resource`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { _ in .lost }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func `repeats a PUT without a resource`() throws {
    var world = try World(Self.yaml("PUT"), files: ["up": ["f": 250]]) {
      $0.number == 1 ? .lost : .status(201)
    }
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<250), .create(0..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `asks the resource for the offset after a lost response`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1: Self.assigning(.lost)
      case 2: .status(204, offset: 100)
      default: .status(200)
      }
    }
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<250), .queryOffset, .send(100..<250)])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.entries.contains { if case .uploadIDAllocated = $0 { true } else { false } })
  }

  @Test func `continues in the next launch after a kill`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      switch call.attempt.operation {
      case .create:
        var reply = Self.assigning(.status(200))
        reply.after = .seconds(100)
        return reply
      case .queryOffset: return .status(204, offset: 60)
      case .send, .queryPart, .listParts, .whole: return .status(200)
      }
    }
    world.launch()
    while !world.entries.contains(where: { if case .uploadIDAllocated = $0 { true } else { false } }),
      world.step()
    {}
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<250)])
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.queryOffset, .send(60..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  private static func gone(_ call: Call) -> Reply {
    var response = AttemptResult.Response(status: 404)
    response.transfer = .gone
    return Reply(answer: .response(response), after: .milliseconds(10))
  }

  /// - Parameter sent: the number of bytes that the first request sent before the connection was lost.
  @Test(
    arguments: [("POST", 250, false), ("POST", 249, true), ("PUT", 250, true)] as [(String, Int64, Bool)])
  func `starts over without its resource only if the file cannot be delivered twice`(
    _ method: String, sent: Int64, isSentAgain: Bool
  ) throws {
    var world = try World(Self.yaml(method), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1:
        var reply = Self.assigning(.lost)
        reply.sent = sent
        return reply
      case 2: return Self.gone(call)
      default: return .status(201)
      }
    }
    world.run()
    #expect(
      world.starts.map(\.attempt.operation)
        == [.create(0..<250), .queryOffset] + (isSentAgain ? [.create(0..<250)] : []))
    let counts = world.scheduler.totals.items
    #expect(counts.done == (isSentAgain ? 1 : 0) && counts.ambiguous == (isSentAgain ? 0 : 1))
  }

  /// A gateway has sent the last request twice, the server has removed the completed upload, and the launch ends before ferry
  /// knows that.
  @Test(
    arguments: [
      (400, .damaged("the upload has already been completed")), (409, .refused), (423, .refused),
      (404, .gone),
    ] as [(Int, TransferReading)])
  func `that may be complete does not start over in the next launch`(
    status: Int, reading: TransferReading
  ) throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1: return Self.assigning(.status(201, offset: 100))
      case 2:
        var response = AttemptResult.Response(status: status)
        response.transfer = reading
        var reply = Reply(answer: .response(response), after: .milliseconds(10))
        reply.sent = 150
        return reply
      default: return .status(503)
      }
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == (status == 404 ? 1 : 0))
    world.serve = Self.gone
    world.run()
    #expect(!world.starts.contains { $0.attempt.operation == .create(0..<250) })
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  /// The response to the first request was lost, and the server is too busy to repeat it.
  @Test(arguments: [429, 503])
  func `does not start over because the response to a completed upload is delayed`(_ status: Int) throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1:
        var reply = Self.assigning(.lost)
        reply.sent = 250
        return reply
      case 2: return .status(204, offset: 250)
      default:
        var response = AttemptResult.Response(status: status)
        response.transfer = .completed
        return Reply(answer: .response(response), after: .milliseconds(10))
      }
    }
    world.run()
    #expect(world.starts.map(\.attempt.operation) == [.create(0..<250), .queryOffset, .send(250..<250)])
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  /// A busy server without an upload resource has executed nothing, so the next launch sends the file.
  @Test func `is sent by the next launch if the server was too busy for its creation`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { _ in
      var reply = Reply.status(425)
      reply.sent = 250
      return reply
    }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.serve = { _ in .status(201) }
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `continues at another origin after a busy response`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1:
        var reply = Self.assigning(.status(201, offset: 100))
        if let origin = Origin(url: "http://other/1") { reply.resourceOrigins = [.transfer: origin] }
        return reply
      case 2: return .status(503)
      case 3: return .status(204, offset: 100)
      default: return .status(200)
      }
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The server refuses the resource because its URL has expired.
  @Test(arguments: [("POST", 250, false), ("POST", 249, true)] as [(String, Int64, Bool)])
  func `starts over with an expired resource only if the file cannot be delivered twice`(
    _ method: String, sent: Int64, isSentAgain: Bool
  ) throws {
    var world = try World(Self.yaml(method), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1:
        var reply = Self.assigning(.lost)
        reply.sent = sent
        return reply
      case 2:
        var response = AttemptResult.Response(status: 403)
        response.reportsExpiry = true
        return Reply(answer: .response(response), after: .milliseconds(10))
      default: return .status(201)
      }
    }
    world.run()
    let counts = world.scheduler.totals.items
    #expect(counts.done == (isSentAgain ? 1 : 0) && counts.ambiguous == (isSentAgain ? 0 : 1))
  }

  @Test func `judges the response to a completed upload as that of the declared request`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { _ in
      var response = AttemptResult.Response(status: 500)
      response.transfer = .completed
      return Self.assigning(Reply(answer: .response(response), after: .milliseconds(10)))
    }
    world.run()
    // A POST that failed with 500 may have been executed, and the upload resource cannot show whether it was.
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func `stops a request when the server states that it will refuse the file`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      guard call.step == .transfer else { return .status(204) }
      var reply = Self.assigning(.status(200))
      reply.after = .seconds(100)
      reply.limit = UploadLimit(maxSize: 249)
      return reply
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.transfer, .abandon])
    #expect(world.scheduler.totals.items.failed == 1)
  }

  /// The server has all bytes, and states after each request that the upload is incomplete.
  @Test func `retries an upload that the server does not complete`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      call.number == 1 ? Self.assigning(.status(201, offset: 250)) : .status(200, offset: 250)
    }
    world.run()
    #expect(
      world.starts.map(\.attempt.operation)
        == [.create(0..<250)] + Array(repeating: .send(250..<250), count: 3))
    let counts = world.scheduler.totals.items
    #expect(counts.done == 0 && counts.waiting == 1)
  }

  /// Only the lost response of the completed upload had the captures.
  @Test(arguments: [("POST", false), ("PUT", true)])
  func `starts over for lost captures only if the file may be delivered twice`(
    _ method: String, isSentAgain: Bool
  ) throws {
    var world = try World(Self.yaml(method), files: ["up": ["f": 250]]) { call in
      switch call.number {
      case 1: return Self.assigning(.lost)
      case 2: return .status(204, offset: 250)
      case 3:
        var response = AttemptResult.Response(
          status: 400, missing: TransportFailure(.capture, "lost", mayHaveReachedServer: true))
        response.transfer = .completedEarlier
        return Reply(answer: .response(response), after: .milliseconds(10))
      default: return .status(201)
      }
    }
    world.run()
    #expect(
      world.starts.map(\.attempt.operation)
        == [.create(0..<250), .queryOffset, .send(250..<250)] + (isSentAgain ? [.create(0..<250)] : []))
    let counts = world.scheduler.totals.items
    #expect(counts.done == (isSentAgain ? 1 : 0) && counts.ambiguous == (isSentAgain ? 0 : 1))
  }

  /// The server has assigned a resource, and then challenges the request or redirects it.
  @Test(arguments: ["POST", "PUT"], [307, 401])
  func `releases the resource of a referred request, and sends it anew`(
    _ method: String, _ status: Int
  ) throws {
    var world = try World(Self.yaml(method), files: ["up": ["f": 250]]) { call in
      guard call.step == .transfer else { return .status(204) }
      guard call.number == 1 else { return .status(201) }
      var reply = Self.assigning(.status(status, transfer: .referred))
      reply.sent = 250
      return reply
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.transfer, .transfer, .abandon])
    #expect(world.starts.prefix(2).map(\.attempt.operation) == [.create(0..<250), .create(0..<250)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The next launch must not continue at the resource of the referred request, which would deliver the file twice.
  @Test func `forgets the resource of a referred request before it is sent anew`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      guard call.step == .transfer else { return .status(204) }
      guard call.number > 1 else { return Self.assigning(.status(401, transfer: .referred)) }
      var reply = Reply.status(201)
      reply.after = .seconds(100)
      return reply
    }
    world.launch()
    while world.starts.count < 2, world.step() {}
    world.run()
    #expect(!world.starts.contains { $0.attempt.step == .transfer })
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func `fails if every request is referred`() throws {
    var world = try World(Self.yaml(), files: ["up": ["f": 250]]) { call in
      call.step == .transfer ? Self.assigning(.status(401, transfer: .referred)) : .status(204)
    }
    world.run()
    #expect(world.starts.count { $0.attempt.step == .transfer } == 3)
    #expect(world.scheduler.totals.items.failed == 1)
  }

  @Test func `fails if an incomplete upload has no resource`() throws {
    var world = try World(Self.yaml("PUT"), files: ["up": ["f": 250]]) { _ in .status(201, offset: 100) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.failed == 1)
  }
}

import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Downloads that are continued: how their bytes and retries count.
@Suite struct `A download that is continued` {
  private static let yaml =
    Yaml.head + """
      fetches:
        f: { session: s, save_to: f, retry: { limit: 1 }, request: { url: "http://host/f" } }

      """

  /// A response whose connection is lost after some bytes.
  private static func cut(_ received: Int64, _ part: PartProgress) -> Reply {
    var reply = Reply.lost
    (reply.received, reply.part) = (received, part)
    return reply
  }

  private static func whole(_ received: Int64, _ part: PartProgress? = nil) -> Reply {
    var reply = Reply.status(200)
    (reply.received, reply.part) = (received, part)
    return reply
  }

  /// Runs a fetch with one reply after the other.
  private func run(_ replies: [Reply], _ yaml: String = yaml) throws -> World {
    var number = 0
    var world = try World(yaml) { _ in
      defer { number += 1 }
      return replies[min(number, replies.count - 1)]
    }
    world.run()
    return world
  }

  @Test func `counts each byte once as useful`() throws {
    let world = try run([
      Self.cut(100_000, .init(kept: 100_000, through: 100_000)),
      Self.cut(100_000, .init(kept: 100_000, through: 200_000)), Self.whole(50_000),
    ])
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.metrics.usefulBytes == 250_000)
    #expect(world.scheduler.metrics.traffic.bodyReceived == 250_000)
  }

  @Test func `counts the bytes of an earlier version as overhead`() throws {
    let world = try run([
      Self.cut(100_000, .init(kept: 100_000, through: 100_000)), Self.whole(300_000, .init(dropped: 100_000)),
    ])
    #expect(world.scheduler.metrics.usefulBytes == 300_000)
    #expect(world.scheduler.metrics.traffic.bodyReceived == 400_000)
  }

  @Test func `does not subtract bytes that an earlier run received`() throws {
    let world = try run([Self.whole(300_000, .init(dropped: 100_000))])
    #expect(world.scheduler.metrics.usefulBytes == 300_000)
  }

  @Test func `has its retry count reset whenever it advances by 64 KiB`() throws {
    let steps = (1...10).map { Self.cut(65_536, .init(kept: 65_536, through: 65_536 * Int64($0))) }
    let world = try run(steps + [Self.whole(1)])
    #expect(world.starts.count == 11)
    #expect(world.scheduler.exitCode == .success)
  }

  /// Each step resets the retry count, so a server could otherwise fill the memory with failures.
  @Test func `keeps the first and the last of many failed attempts`() throws {
    let steps = (1...300).map { Self.cut(65_536, .init(kept: 65_536, through: 65_536 * Int64($0))) }
    let world = try run(steps + [Self.whole(1)])
    let record = world.scheduler.nodeRecords[0]
    #expect(world.starts.count == 301 && record.attempts.count == 100)
    let times = record.attempts.map(\.endedAt)
    #expect(times == times.sorted() && times[49] < times[50])
  }

  @Test func `uses up its retries if it advances by less, or again by the same bytes`() throws {
    let slow = (1...10).map { Self.cut(1_000, .init(kept: 1_000, through: 1_000 * Int64($0))) }
    #expect(try run(slow).starts.count == 2)
    let again = Self.cut(100_000, .init(kept: 100_000, through: 100_000, dropped: 100_000))
    #expect(try run([again]).starts.count == 2)
  }

  @Test(arguments: [206, 400, 412, 416, 431])
  func `is requested whole, once, if the request for its rest is refused`(_ status: Int) throws {
    var response = AttemptResult.Response(status: status)
    response.askedForRest = true
    let refused = Reply(answer: .response(response), after: .milliseconds(10))
    let world = try run([refused, Self.whole(10)])
    #expect(world.starts.map(\.attempt.isUnconditional) == [false, true])
    #expect(world.scheduler.exitCode == .success)
    #expect(try run([refused]).starts.count == 2)
    let failed = try run([refused])
    #expect(failed.scheduler.exitCode == .itemsFailed)
    #expect(failed.scheduler.nodeRecords[0].reason?.message.contains("was not requested") == false)
  }

  @Test func `is requested whole if its rest does not fit, even if 206 is accepted`() throws {
    var response = AttemptResult.Response(status: 206)
    response.askedForRest = true
    response.mismatch = "the rest does not fit"
    let yaml = Self.yaml.replacing("save_to: f,", with: "save_to: f, expect: { status: [200, 206] },")
    let world = try run(
      [Reply(answer: .response(response), after: .milliseconds(10)), Self.whole(10)], yaml)
    #expect(world.starts.map(\.attempt.isUnconditional) == [false, true])
    #expect(world.scheduler.exitCode == .success)
  }
}

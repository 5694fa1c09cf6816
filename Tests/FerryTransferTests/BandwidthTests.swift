import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

@Suite(.serialized) struct `A limit of the bandwidth` {
  private let folder: TemporaryFolder
  private let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func limit(_ name: String, _ bytesPerSecond: Int64?) -> TransferLimit {
    TransferLimit(name: name) { bytesPerSecond }
  }

  /// Runs turns for a time, and returns the time that has passed.
  private func turn(for time: Duration) -> Double {
    let (start, end) = (SuspendingClock.now, SuspendingClock.now.advanced(by: time))
    while SuspendingClock.now < end { _ = loop.turn(timeout: SuspendingClock.now.duration(to: end)) }
    return start.duration(to: .now).seconds
  }

  @Test func `is shared evenly by uploads`() throws {
    let counts = Mutex<[String: Int]>([:])
    let server = try RawServer { connection, number in
      _ = connection.readRequest { count in counts.withLock { $0["\(number)"] = count } }
    }
    folder.write("f", pattern(16 << 20))
    for id in 1...8 {
      var request = TransferRequest(
        id: UInt64(id), method: "PUT", url: server.url, body: .file(folder.source("f")))
      request.limits = [limit("run", 2_000_000)]
      loop.start(request)
    }
    // While the connections are being opened, the first ones get more.
    _ = turn(for: .seconds(1))
    expectShares { counts.withLock { $0.mapValues { Int64($0) } } }
  }

  @Test func `is shared evenly by downloads`() throws {
    let body = String(repeating: "x", count: 16 << 20)
    let server = try RawServer { _ in answer(body: body) }
    for id in 1...8 {
      var request = TransferRequest(
        id: UInt64(id), method: "GET", url: server.url,
        destination: .file(path: folder.file("\(id)")))
      request.limits = [limit("run", 2_000_000)]
      loop.start(request)
    }
    _ = turn(for: .seconds(1))
    expectShares { loop.busy.mapValues { $0.traffic.bodyReceived } }
  }

  /// The bytes of eight requests must not exceed the limit in any period. The requests must use the limit evenly in one
  /// of a few periods, because a machine under load may transfer less in the others.
  private func expectShares<Key: Hashable>(of counts: () -> [Key: Int64]) {
    var periods: [[Double]] = []
    for _ in 1...5 {
      let before = counts()
      let limit = 2_000_000 * turn(for: .seconds(5))
      let shares = counts().map { Double($1 - (before[$0] ?? 0)) }
      let all = shares.reduce(0, +)
      #expect(shares.count == 8 && all < limit * 1.08, "\(shares)")
      if all > limit * 0.8, shares.allSatisfy({ abs($0 - all / 8) < all / 8 * 0.2 }) { return }
      periods.append(shares)
    }
    Issue.record("the limit is not used evenly: \(periods)")
  }

  @Test func `also applies to small bodies and small responses`() throws {
    let server = try RawServer { _ in answer(body: String(repeating: "x", count: 1000)) }
    for (direction, isUpload) in [("up", true), ("down", false)] {
      folder.write("small", pattern(50_000))
      let start = SuspendingClock.now
      let count = isUpload ? 20 : 200
      for id in 1...count {
        var request =
          isUpload
          ? TransferRequest(
            id: UInt64(id), method: "PUT", url: server.url, body: .file(folder.source("small")))
          : TransferRequest(id: UInt64(id), method: "GET", url: server.url)
        request.limits = [limit(direction, isUpload ? 500_000 : 100_000)]
        loop.start(request)
      }
      #expect(loop.finish(count).allSatisfy { $0.answer?.status == 200 })
      // A megabyte at 500 kB/s takes two seconds, as do 200 kB at 100 kB/s. The first turn is due at once.
      #expect(start.duration(to: .now) > .seconds(1.5))
    }
  }

  @Test func `applies together with other limits`() throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(400_000))
    let start = SuspendingClock.now
    for id in 1...2 {
      var request = TransferRequest(
        id: UInt64(id), method: "PUT", url: server.url, body: .file(folder.source("f")))
      request.limits = [limit("run", 1_000_000), limit("session \(id)", id == 1 ? 200_000 : nil)]
      loop.start(request)
    }
    let first = loop.finish(1)
    #expect(first.map(\.id) == [2])
    let unlimited = start.duration(to: .now)
    #expect(loop.finish(1).map(\.id) == [1])
    let limited = start.duration(to: .now)
    // With the limit of the first request, the second one would take as long.
    #expect(limited > .seconds(1.5) && unlimited < limited * 0.75, "\(unlimited), \(limited)")
  }

  @Test func `is not a pause of the server's`() throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(100_000))
    var request = TransferRequest(
      id: 1, method: "PUT", url: server.url, body: .file(folder.source("f")), idleTimeout: .milliseconds(30))
    request.connection = ConnectionOptions(
      tls: TLSOptions(), minimumSpeed: .init(bytes: 1_000_000, period: .milliseconds(200)))
    request.limits = [limit("run", 50_000)]
    #expect(try loop.run(request).answer?.status == 200)
  }

  @Test func `ends when its time ends`() throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(5_000_000))
    let start = SuspendingClock.now
    var request = TransferRequest(
      id: 1, method: "PUT", url: server.url, body: .file(folder.source("f")))
    request.limits = [
      TransferLimit(name: "run") { start.duration(to: .now) < .seconds(0.5) ? 10_000 : nil }
    ]
    #expect(try loop.run(request).answer?.status == 200)
    // At the rate of the limit, the request would take 500 seconds.
    #expect((Duration.seconds(0.5) ..< .seconds(60)).contains(start.duration(to: .now)))
  }

  @Test func `holds canceled requests no longer`() throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(50_000))
    for id in 1...3 {
      var request = TransferRequest(
        id: UInt64(id), method: "PUT", url: server.url, body: .file(folder.source("f")))
      request.limits = [limit("run", 500)]
      loop.start(request)
    }
    let start = SuspendingClock.now
    var outcomes: [TransferOutcome] = []
    while outcomes.isEmpty { outcomes = loop.turn(timeout: .seconds(30)) }
    for id in 1...3 { loop.cancel(UInt64(id)) }
    outcomes += loop.finish(3 - outcomes.count)
    #expect(outcomes.first?.answer?.status == 200)
    #expect(outcomes.contains { $0.failure?.code == .cancelled })
    // Otherwise, the second request would wait for a hundred seconds.
    #expect(start.duration(to: .now) < .seconds(60))
  }
}

@Suite struct `The bytes of a limit` {
  private let start = SuspendingClock.now
  private func key(_ id: UInt64) -> TransferKey { TransferKey(id: id, serial: id) }

  @Test func `are granted in turn, at the rate of the limit`() {
    var queue = BandwidthQueue(BandwidthClock(at: start), .sending)
    for id in 1...3 { queue.wait(key(UInt64(id)), 1_000_000, at: start) }
    var granted: [UInt64] = []
    for millisecond in 1...600 {
      let now = start.advanced(by: .milliseconds(millisecond))
      while let next = queue.popFirst(at: now) {
        granted.append(next.key.id)
        queue.wait(next.key, 1_000_000, at: now)
      }
    }
    // 600 kB are granted in turns of 10 kB, in addition to the first turn. The last turn may exceed the limit.
    #expect((60...62).contains(granted.count))
    #expect(granted == granted.indices.map { UInt64($0 % 3 + 1) })
  }

  @Test func `do not accumulate while nothing is transferred`() {
    var queue = BandwidthQueue(BandwidthClock(at: start), .sending)
    let later = start.advanced(by: .seconds(3600))
    queue.spend(1_000_000, 1_000_000, at: later)
    queue.wait(key(1), 1_000_000, at: later)
    // 200 ms of the unused time remain.
    #expect(queue.delay(at: later) == .milliseconds(800))
  }

  @Test func `are granted in one order to the queues that share a schedule`() {
    let clock = BandwidthClock(at: start)
    var queues = [BandwidthQueue(clock, .sending), BandwidthQueue(clock, .sending)]
    // Six requests in one process and two in the other.
    for id in 1...6 { queues[0].wait(key(UInt64(id)), 1_000_000, at: start) }
    for id in 7...8 { queues[1].wait(key(UInt64(id)), 1_000_000, at: start) }
    var granted: [UInt64: Int] = [:]
    for millisecond in 1...800 {
      let now = start.advanced(by: .milliseconds(millisecond))
      for index in queues.indices {
        while let next = queues[index].popFirst(at: now) {
          granted[next.key.id, default: 0] += 1
          queues[index].wait(next.key, 1_000_000, at: now)
        }
      }
    }
    #expect((80...81).contains(granted.values.reduce(0, +)))
    #expect(granted.count == 8 && granted.values.allSatisfy { (9...11).contains($0) }, "\(granted)")
  }

  @Test func `are not held by a process that has ended, by another direction, or by a time of another boot`()
  {
    let clock = BandwidthClock(at: start)
    var ended = BandwidthQueue(clock, .sending)
    for id in 1...10 { ended.wait(key(UInt64(id)), 1_000_000, at: start) }
    var queue = BandwidthQueue(clock, .sending)
    queue.wait(key(11), 1_000_000, at: start)
    #expect(queue.delay(at: start) == .milliseconds(100))
    var other = BandwidthQueue(clock, .receiving)
    other.wait(key(12), 1_000_000, at: start)
    #expect(other.delay(at: start) == .zero)

    let times = UnsafeMutablePointer<Int64>.allocate(capacity: 2)
    defer { times.deallocate() }
    times.initialize(repeating: .max, count: 2)
    var later = BandwidthQueue(BandwidthClock(sharing: times, of: TransferLimit(name: "") { nil }), .sending)
    later.wait(key(13), 1_000_000, at: start)
    #expect(later.delay(at: start) == .zero)
  }

  @Test func `are granted at a new rate once the rate changes`() {
    var queue = BandwidthQueue(BandwidthClock(at: start), .sending)
    // At 1 byte per second, the second turn is due after 1,024 seconds.
    for id in 1...3 { queue.wait(key(UInt64(id)), 1, at: start) }
    #expect(queue.popFirst(at: start)?.key.id == 1 && queue.popFirst(at: start) == nil)
    let now = start.advanced(by: .seconds(1024))
    queue.restart(1_000_000, at: now)
    #expect(queue.popFirst(at: now)?.key.id == 2)
    #expect(queue.delay(at: now) == .milliseconds(10))
    queue.restart(nil, at: now)
    #expect(queue.popFirst(at: now)?.key.id == 3)
  }
}

import Testing

@testable import FerryTransfer

struct ConnectionCachesTests {
  @Test func `one hop in each second lets libcurl remove old host names`() {
    var caches = ConnectionCaches()
    let start = SuspendingClock.now.advanced(by: .seconds(1))
    let times: [Duration] = [.zero, .milliseconds(999), .seconds(1), .milliseconds(1_500), .seconds(10)]
    let timeouts = times.map { time in caches.nameTimeout(at: start.advanced(by: time)) }
    #expect(timeouts == [60, -1, 60, -1, 60])
  }
}

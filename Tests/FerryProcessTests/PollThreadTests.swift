import FerryProcess
import Foundation
import Synchronization
import Testing

@Suite struct `A thread that polls` {
  @Test func `calls a timer at its time, the earlier one first`() throws {
    let thread = try PollThread("poll-test")
    let order = Mutex<[Int]>([])
    let called = DispatchSemaphore(value: 0)
    for (number, delay) in [(2, 40), (1, 1)] {
      thread.schedule(after: .milliseconds(delay)) {
        order.withLock { $0.append(number) }
        called.signal()
      }
    }
    for _ in 0..<2 { #expect(called.wait(timeout: .now() + 20) == .success) }
    #expect(order.withLock { $0 } == [1, 2])
  }

  @Test func `drops timers, and closes what it watches, when it is released`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[1]) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    signal(SIGPIPE, SIG_IGN)
    var thread: PollThread? = try PollThread("poll-test")
    let watch = thread?.watch(ends[0]) {}
    thread = nil
    // A pipe without a reader is in the error state, which poll(2) always reports.
    var entry = pollfd(fd: ends[1], events: 0, revents: 0)
    #expect(poll(&entry, 1, 20_000) == 1)
    withExtendedLifetime(watch) {}
  }

  @Test func `calls the handler of a readable descriptor until it is no longer watched`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[1]) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let reading = ends[0]
    let thread = try PollThread("poll-test")
    let called = DispatchSemaphore(value: 0)
    var watch: PollThread.Watch? = thread.watch(reading) {
      var byte: UInt8 = 0
      while read(reading, &byte, 1) == 1 { called.signal() }
    }
    for _ in 0..<3 {
      #expect(write(ends[1], [1], 1) == 1)
      #expect(called.wait(timeout: .now() + 20) == .success)
    }
    #expect(watch != nil)
    watch = nil
    var entry = pollfd(fd: ends[1], events: 0, revents: 0)
    #expect(poll(&entry, 1, 20_000) == 1)
  }
}

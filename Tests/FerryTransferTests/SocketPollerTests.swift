import Foundation
import Testing

@testable import FerryTransfer

@Suite struct SocketPollerTests {
  private let waker: TransferWaker
  private let poller: SocketPoller

  init() throws {
    waker = try TransferWaker()
    poller = try SocketPoller(interruptedBy: waker.reading)
  }

  /// The ends of a pair of connected sockets. The caller closes both.
  private func pair() throws -> (own: CInt, other: CInt) {
    var ends: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (ends[0], ends[1])
  }

  private func ready(milliseconds: CInt = 0) -> [CInt: SocketPoller.Interest] {
    var events: [SocketPoller.Event] = []
    poller.wait(milliseconds: milliseconds, &events)
    return Dictionary(uniqueKeysWithValues: events.map { ($0.descriptor, $0.ready) })
  }

  @Test func aSocketIsReportedForTheEventsForWhichItIsWatched() throws {
    let (own, other) = try pair()
    defer { for end in [own, other] { close(end) } }
    poller.didOpen(own)
    #expect(ready().isEmpty)
    poller.watch(own, [.reading, .writing])
    #expect(ready() == [own: .writing])
    poller.watch(own, .reading)
    #expect(ready().isEmpty)
    #expect(write(other, "x", 1) == 1)
    #expect(ready(milliseconds: 10_000) == [own: .reading])
    // The byte is still there.
    #expect(ready() == [own: .reading])
    poller.watch(own, [])
    #expect(ready().isEmpty)
  }

  @Test func aSocketIsStillWatchedAfterAChangeThatWasUndone() throws {
    let (own, other) = try pair()
    defer { for end in [own, other] { close(end) } }
    poller.didOpen(own)
    poller.watch(own, .reading)
    #expect(ready().isEmpty)
    poller.watch(own, [])
    poller.watch(own, .reading)
    #expect(write(other, "x", 1) == 1)
    #expect(ready(milliseconds: 10_000) == [own: .reading])
  }

  /// The kernel forgets a closed descriptor, and gives its number to the next socket.
  @Test(arguments: [true, false])
  func aSocketWithTheNumberOfAClosedOneIsWatched(isAnnounced: Bool) throws {
    let (own, other) = try pair()
    if isAnnounced { poller.didOpen(own) }
    poller.watch(own, .reading)
    #expect(ready().isEmpty)
    if isAnnounced { poller.willClose(own) } else { poller.watch(own, []) }
    for end in [own, other] { close(end) }

    let (next, peer) = try pair()
    defer { for end in [own, next, peer] { close(end) } }
    if next != own { #expect(dup2(next, own) == own) }
    poller.didOpen(own)
    poller.watch(own, .reading)
    #expect(write(peer, "x", 1) == 1)
    #expect(ready(milliseconds: 10_000) == [own: .reading])
  }

  /// libcurl then checks the socket itself.
  @Test func aSocketWhosePeerHasHungUpIsReportedWithoutEvents() throws {
    let (own, other) = try pair()
    defer { close(own) }
    poller.didOpen(own)
    poller.watch(own, .reading)
    close(other)
    #expect(ready(milliseconds: 10_000) == [own: []])
  }

  @Test func interruptingEndsTheWait() {
    waker.interrupt()
    waker.interrupt()
    #expect(ready(milliseconds: 10_000).isEmpty)
    // The bytes have been read.
    var status = pollfd(fd: waker.reading, events: CShort(POLLIN), revents: 0)
    #expect(poll(&status, 1, 0) == 0)
  }
}

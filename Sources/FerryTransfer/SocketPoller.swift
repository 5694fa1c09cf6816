import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Waits for events on sockets (epoll(7)), and for a byte in a pipe.
///
/// libcurl stops waiting for a socket at the end of each request, and waits for it again when the connection carries the
/// next one. Therefore, a change takes effect only before the next wait, and takes a system call only if it has not been
/// undone by then.
final class SocketPoller {
  /// The events for which a socket is watched, as in CURL_POLL_IN and CURL_POLL_OUT.
  struct Interest: OptionSet {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
  }

  struct Event {
    var descriptor: CInt
    /// Empty if the socket has an error or was shut down, whatever it is watched for.
    var ready: Interest
  }

  private struct Socket {
    var wanted: Interest = []
    /// What the kernel watches the socket for.
    var watched: Interest = []
    var isChanged = false
    /// Whether `willClose` will be called before the socket is closed.
    var announcesClose = false
  }

  /// The sockets, by descriptor.
  private var sockets: [Socket] = []
  /// The sockets for which `isChanged` is set.
  private var changed: [CInt] = []
  private let kernel: KernelEvents
  /// The reading end of the pipe.
  private let reading: CInt

  /// - Parameter reading: the reading end of a nonblocking pipe. A byte in it ends a wait. The poller reads it, but does
  ///   not close it.
  init(interruptedBy reading: CInt) throws(TransfersUnavailable) {
    kernel = try KernelEvents()
    self.reading = reading
    kernel.watch(reading, .reading, known: [])
  }

  /// Must be called after the descriptor of a socket is opened, if `willClose` will be called.
  func didOpen(_ descriptor: CInt) { self[descriptor].announcesClose = true }

  /// Must be called before the descriptor is closed, because its number may then be reused for another socket.
  func willClose(_ descriptor: CInt) {
    guard sockets.indices.contains(Int(descriptor)) else { return }
    let socket = sockets[Int(descriptor)]
    if !socket.watched.isEmpty { kernel.watch(descriptor, [], known: socket.watched) }
    sockets[Int(descriptor)] = Socket(isChanged: socket.isChanged)
  }

  /// Watches a socket for other events from the next wait on. Without events, it is not watched.
  func watch(_ descriptor: CInt, _ interest: Interest) {
    self[descriptor].wanted = interest
    if interest.isEmpty, !self[descriptor].announcesClose { return willClose(descriptor) }
    guard !self[descriptor].isChanged else { return }
    self[descriptor].isChanged = true
    changed.append(descriptor)
  }

  private subscript(descriptor: CInt) -> Socket {
    get { sockets[Int(descriptor)] }
    _modify {
      let index = Int(descriptor)
      if sockets.count <= index {
        sockets += Array(repeating: Socket(), count: index + 1 - sockets.count)
      }
      yield &sockets[index]
    }
  }

  /// Waits until a socket has an event, the pipe has a byte, or the time has passed. Replaces `events` with the events.
  ///
  /// - Parameter milliseconds: 0 to return immediately.
  func wait(milliseconds: CInt, _ events: inout [Event]) {
    for descriptor in changed {
      let socket = self[descriptor]
      self[descriptor].isChanged = false
      guard socket.wanted != socket.watched else { continue }
      kernel.watch(descriptor, socket.wanted, known: socket.watched)
      self[descriptor].watched = socket.wanted
    }
    changed.removeAll(keepingCapacity: true)
    events.removeAll(keepingCapacity: true)
    kernel.wait(milliseconds: milliseconds) { descriptor, ready in
      if descriptor == reading { drain() } else { events.append(Event(descriptor: descriptor, ready: ready)) }
    }
  }

  private func drain() {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      while read(reading, buffer.baseAddress, buffer.count) == buffer.count {}
    }
  }
}

#if canImport(Darwin)
/// The sockets that are watched, with poll(2).
private final class KernelEvents {
  private var watched: [CInt: SocketPoller.Interest] = [:]

  init() throws(TransfersUnavailable) {}

  func watch(_ descriptor: CInt, _ interest: SocketPoller.Interest, known: SocketPoller.Interest) {
    watched[descriptor] = interest.isEmpty ? nil : interest
  }

  func wait(milliseconds: CInt, _ body: (CInt, SocketPoller.Interest) -> Void) {
    var entries = watched.map { descriptor, interest in
      pollfd(
        fd: descriptor,
        events: CShort(
          (interest.contains(.reading) ? POLLIN : 0) | (interest.contains(.writing) ? POLLOUT : 0)),
        revents: 0)
    }
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
    for entry in entries where entry.revents != 0 {
      let ready = CInt(entry.revents)
      var interest: SocketPoller.Interest = []
      if ready & ~(POLLIN | POLLOUT) == 0 {
        if ready & POLLIN != 0 { interest.insert(.reading) }
        if ready & POLLOUT != 0 { interest.insert(.writing) }
      }
      body(entry.fd, interest)
    }
  }
}
#else
/// The sockets that are watched, in an epoll(7) instance.
private final class KernelEvents {
  private static let capacity = 256

  private let instance: CInt
  private let events: UnsafeMutablePointer<epoll_event>

  init() throws(TransfersUnavailable) {
    let instance = epoll_create1(CInt(O_CLOEXEC))
    guard instance >= 0 else { throw TransfersUnavailable(SystemText.error(errno)) }
    self.instance = instance
    events = .allocate(capacity: Self.capacity)
  }

  deinit {
    close(instance)
    events.deallocate()
  }

  /// - Parameter known: what the descriptor has been watched for so far.
  func watch(_ descriptor: CInt, _ interest: SocketPoller.Interest, known: SocketPoller.Interest) {
    var event = epoll_event()
    if interest.contains(.reading) { event.events |= Self.reading }
    if interest.contains(.writing) { event.events |= Self.writing }
    event.data.fd = descriptor
    let operation = interest.isEmpty ? EPOLL_CTL_DEL : known.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
    // A socket that cannot be watched fails when its idle timeout has passed.
    epoll_ctl(instance, operation, descriptor, &event)
  }

  func wait(milliseconds: CInt, _ body: (CInt, SocketPoller.Interest) -> Void) {
    // After a signal (EINTR), the caller waits again.
    for index in 0..<Int(max(0, epoll_wait(instance, events, CInt(Self.capacity), milliseconds))) {
      let event = events[index]
      var ready: SocketPoller.Interest = []
      if event.events & ~(Self.reading | Self.writing) == 0 {
        if event.events & Self.reading != 0 { ready.insert(.reading) }
        if event.events & Self.writing != 0 { ready.insert(.writing) }
      }
      body(event.data.fd, ready)
    }
  }

  /// EPOLLIN and EPOLLOUT, which the C libraries declare with different types.
  private static let reading: UInt32 = 0x1
  private static let writing: UInt32 = 0x4
}
#endif

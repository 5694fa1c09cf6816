import FerryPlan
import FerryProcess
import Foundation

/// Wakes the holder of a session when a note is added for it, without polling.
///
/// Start the watch before the notes are read for the first time, so that notes added in between are not
/// missed. If inotify(7) is unavailable or its limit is reached, the holder is not woken, and finds the
/// notes at its next launch.
package final class InboxWatch: Sendable {
  /// Whether the watch is active; if false, `deliver` is never called.
  package let isWatching: Bool
  #if os(Linux)
  private let watch: PollThread.Watch?
  #endif

  /// - Parameter deliver: called on `thread` after notes were added, once for several notes at a time. A
  ///   call in progress may outlast the watch.
  package init(
    session identifier: String, in state: StateDirectory, on thread: PollThread,
    deliver: @escaping @Sendable () -> Void
  ) throws(JournalError) {
    try state.create()
    let path = try state.inbox(ofSession: identifier)
    #if os(Linux)
    watch = Self.watch(state.sessionsFolder, for: SplitPath(path).name, on: thread, deliver)
    isWatching = watch != nil
    #else
    _ = path
    isWatching = false
    #endif
  }

  #if os(Linux)
  /// Watches the folder instead of the file, because the file may not exist yet or may be recreated.
  private static func watch(
    _ folder: String, for name: String, on thread: PollThread, _ deliver: @escaping @Sendable () -> Void
  ) -> PollThread.Watch? {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    guard inotify_add_watch(descriptor, folder, UInt32(IN_CLOSE_WRITE)) >= 0 else {
      close(descriptor)
      return nil
    }
    return thread.watch(descriptor) { if drain(descriptor, for: name) { deliver() } }
  }

  /// Reads all pending events. Returns whether one of them concerns the file, or events were lost.
  private static func drain(_ descriptor: Int32, for name: String) -> Bool {
    var isMet = false
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return isMet }
      bytes.withUnsafeBytes { events in
        // struct inotify_event: wd, mask, cookie, len, and a name of `len` bytes, padded with NULs.
        var offset = 0
        while offset + 16 <= count {
          let mask = events.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          let length = Int(events.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          let text = events[(offset + 16)..<min(offset + 16 + length, count)].prefix { $0 != 0 }
          if mask & UInt32(IN_Q_OVERFLOW) != 0 || text.elementsEqual(name.utf8) { isMet = true }
          offset += 16 + length
        }
      }
    }
  }
  #endif
}

import Synchronization

/// Messages from any thread to a single receiving thread, which removes all waiting messages at once.
package final class Mailbox<Message: Sendable>: Sendable {
  private let waiting = Mutex<[Message]>([])
  private let wake: @Sendable () -> Void

  /// - Parameter wake: called by `post` if no other message is waiting; wakes the receiving thread.
  package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  package func post(_ message: Message) {
    let isFirst = waiting.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if isFirst { wake() }
  }

  package func contains(where isWanted: (Message) -> Bool) -> Bool {
    waiting.withLock { $0.contains(where: isWanted) }
  }

  package func count(where isWanted: (Message) -> Bool) -> Int {
    waiting.withLock { messages in messages.count { isWanted($0) } }
  }

  /// Removes and returns these messages, in the order in which they were posted.
  package func take(where isWanted: (Message) -> Bool) -> [Message] {
    waiting.withLock { messages in
      defer { messages.removeAll(where: isWanted) }
      return messages.filter(isWanted)
    }
  }

  /// Removes and returns all messages, in the order in which they were posted.
  package func take() -> [Message] {
    waiting.withLock { messages in
      guard !messages.isEmpty else { return [] }
      defer { messages = [] }
      return messages
    }
  }
}

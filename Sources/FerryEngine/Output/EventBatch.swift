/// Events that are queued together: each time an `EventWriter` takes events, it locks its queue, which costs as much as
/// encoding an event. Several queues can share the events of a batch without copying them.
package struct EventBatch<Event: Sendable>: Sendable {
  package private(set) var events: [Event] = []
  /// The approximate number of bytes that the events occupy.
  package private(set) var size = 0

  package init() {}

  package mutating func append(_ event: Event, size added: Int) {
    events.append(event)
    size += added
  }
}

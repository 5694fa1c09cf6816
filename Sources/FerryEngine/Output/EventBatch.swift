/// Events that are queued together: each time an `EventWriter` takes events, it locks its queue, which costs as much as
/// queuing an event.
package struct EventBatch<Event> {
  package private(set) var events: [Event] = []
  /// The approximate number of bytes that the events occupy.
  package private(set) var size = 0

  package init() {}

  package mutating func append(_ event: Event, size added: Int) {
    events.append(event)
    size += added
  }

  mutating func append(_ other: EventBatch) {
    events += other.events
    size += other.size
  }

  /// Removes all events, and keeps the storage for further ones.
  mutating func removeAll() {
    events.removeAll(keepingCapacity: true)
    size = 0
  }
}

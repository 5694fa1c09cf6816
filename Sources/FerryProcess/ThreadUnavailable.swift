/// The system refused to create a thread.
package struct ThreadUnavailable: Error, Sendable, CustomStringConvertible {
  package var name: String
  /// `errno` of pthread_create(3) or of the calls that prepare the thread.
  package var number: Int32

  package init(name: String, number: Int32) {
    self.name = name
    self.number = number
  }

  /// A remedy for the user.
  package static let remedy =
    "allow more threads or more address space (ulimit -u and -v, TasksMax= in a systemd unit, pids.max and "
    + "memory.max of a cgroup), and run ferry again"

  package var description: String { "cannot create the thread \(name): \(SystemError.text(number))" }
}

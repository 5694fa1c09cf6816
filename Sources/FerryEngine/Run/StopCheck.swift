/// Ends reading the rows of a journal early if the run was stopped, or its time has passed.
struct StopCheck {
  private struct Stopped: Error {}

  /// The number of rows between two checks.
  private static let interval = 4096

  private let isStopped: (@Sendable () -> Bool)?

  init(_ isStopped: (@Sendable () -> Bool)?) { self.isStopped = isStopped }

  /// Calls `body`, which passes each row and calls `check` for it.
  ///
  /// - Returns: whether all rows were read. If not, `check` has thrown.
  func forEachRow(_ body: (_ check: () throws -> Void) throws -> Void) throws -> Bool {
    var count = 0
    do {
      try body {
        if count % Self.interval == 0, isStopped?() ?? false { throw Stopped() }
        count += 1
      }
      return true
    } catch is Stopped {
      return false
    }
  }
}

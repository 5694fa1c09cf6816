/// Stops reading the rows of a journal if the run was stopped, or its time limit has passed.
struct StopCheck {
  private struct Stopped: Error {}

  /// The number of rows, or of other steps, between two checks.
  private static let interval = 4096

  private let isStopped: (@Sendable () -> Bool)?

  init(_ isStopped: (@Sendable () -> Bool)?) { self.isStopped = isStopped }

  /// Whether the run was stopped, for a loop over something else than rows. Checked every `interval` steps.
  func isStopped(atStep step: Int) -> Bool { step % Self.interval == 0 && isStopped?() ?? false }

  /// Calls `body`, which iterates over the rows and calls `check` for each row.
  ///
  /// - Returns: whether all rows were read. If not, `check` has thrown an error.
  func forEachRow(_ body: (_ check: () throws -> Void) throws -> Void) throws -> Bool {
    var count = 0
    do {
      try body {
        if isStopped(atStep: count) { throw Stopped() }
        count += 1
      }
      return true
    } catch is Stopped {
      return false
    }
  }
}

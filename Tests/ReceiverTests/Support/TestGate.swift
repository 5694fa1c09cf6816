import Synchronization

/// A wait that lasts until the test ends it, and whose start the test can observe.
struct TestGate: Sendable {
  private let arrivals = AsyncStream.makeStream(of: Duration.self)
  private let release = AsyncStream.makeStream(of: Void.self)

  var wait: @Sendable (Duration) async throws -> Void {
    { [arrivals, release] duration in
      arrivals.continuation.yield(duration)
      for await _ in release.stream { return }
    }
  }

  /// Returns once a caller waits, with the duration of its wait.
  func arrival() async -> Duration? {
    for await duration in arrivals.stream { return duration }
    return nil
  }

  func open() { release.continuation.yield() }
}

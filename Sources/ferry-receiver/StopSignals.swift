import Foundation

/// Waits for SIGTERM and SIGINT, which would otherwise terminate the process immediately.
struct StopSignals {
  private let arrivals: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  init() {
    let (arrivals, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.arrivals = arrivals
    sources = [SIGTERM, SIGINT].map { number in
      // The default action would end the process before the source receives the signal.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }

  /// Returns when the first of these signals arrives.
  func first() async {
    for await _ in arrivals { break }
    sources.forEach { $0.cancel() }
  }
}

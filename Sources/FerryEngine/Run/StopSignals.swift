import Dispatch
import FerryPlan
import Foundation

/// SIGINT and SIGTERM as mail instead of the end. The second signal ends requests at once.
final class StopSignals {
  private var sources: [any DispatchSourceSignal] = []

  init(_ deliver: @escaping @Sendable (StopCause) -> Void) {
    let queue = DispatchQueue(label: "ferry.signals")
    for (number, cause) in [(SIGINT, StopCause.interrupt), (SIGTERM, .terminate)] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { deliver(cause) }
      source.resume()
      sources.append(source)
    }
  }

  deinit {
    for source in sources { source.cancel() }
    signal(SIGINT, SIG_DFL)
    signal(SIGTERM, SIG_DFL)
  }
}

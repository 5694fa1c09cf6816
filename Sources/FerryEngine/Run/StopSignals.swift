import Dispatch
import FerryPlan
import Foundation

/// SIGINT, SIGTERM and SIGHUP as mail instead of the end. The second signal ends requests at once.
final class StopSignals {
  private var sources: [any DispatchSourceSignal] = []
  private var numbers: [Int32] = []

  /// - Parameter hangUp: what SIGHUP means; one that is ignored already (nohup) stays so.
  init(hangUp: Mail, _ deliver: @escaping @Sendable (Mail) -> Void) {
    let queue = DispatchQueue(label: "ferry.signals")
    let registered = DispatchGroup()
    for (number, mail) in [(SIGINT, Mail.stop(.interrupt)), (SIGTERM, .stop(.terminate)), (SIGHUP, hangUp)] {
      let before = signal(number, SIG_IGN)
      if number == SIGHUP, Self.isIgnored(before) { continue }
      numbers.append(number)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { deliver(mail) }
      registered.enter()
      source.setRegistrationHandler { registered.leave() }
      source.resume()
      sources.append(source)
    }
    // Until then a signal is ignored, and lost.
    registered.wait()
  }

  deinit {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }

  private static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

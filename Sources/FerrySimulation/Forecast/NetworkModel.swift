import FerryManifest
import FerryPlan

/// A model of a network and of the servers behind it.
package struct NetworkModel: Sendable {
  package enum Rate: Hashable, Sendable {
    /// Bytes per second, divided evenly among the requests that are running when a request begins.
    case shared(Double)
    /// Bytes per second for each connection.
    case perConnection(Double)
  }

  package var rate: Rate
  /// The time from a request to its response, in addition to the transfer time.
  package var latency: Duration
  /// The percentage of requests whose connection fails halfway.
  package var lossPercent: Double

  package init(rate: Rate, latency: Duration = .zero, lossPercent: Double = 0) {
    self.rate = rate
    self.latency = latency
    self.lossPercent = lossPercent
  }
}

/// The network in one simulation. It tracks the running requests.
final class SimulatedNetwork {
  private let model: NetworkModel
  private let plan: Plan
  private var random: SeededRandom
  private var ends: [Instant] = []
  private var nextID = 0

  init(_ model: NetworkModel, plan: Plan, seed: UInt64) {
    self.model = model
    self.plan = plan
    random = SeededRandom(seed: seed)
  }

  func answer(_ call: Call) -> Reply {
    ends.removeAll { $0 <= call.now }
    let bytesPerSecond: Double =
      switch model.rate {
      case .shared(let rate): rate / Double(ends.count + 1)
      case .perConnection(let rate): rate
      }
    var after = model.latency
    if call.size > 0, bytesPerSecond > 0 {
      after += .seconds(fraction: Double(call.size) / bytesPerSecond)
    }
    let isLost = model.lossPercent > 0 && random.fraction() * 100 < model.lossPercent
    var reply = isLost ? Reply.fails(.connectionLost, reached: true) : .status(status(of: call))
    reply.after = isLost ? .nanoseconds(after.nanoseconds / 2) : after
    reply.sent = isLost ? call.size / 2 : call.size
    if call.step == .allocate {
      nextID += 1
      reply.uploadID = nextID
    }
    ends.append(call.now.advanced(by: reply.after))
    return reply
  }

  /// The status that the step expects.
  private func status(of call: Call) -> Int {
    let steps = plan.nodes[call.attempt.ref.node.index].steps
    return steps.first { $0.kind == call.step }?.expect.status.first ?? 200
  }
}

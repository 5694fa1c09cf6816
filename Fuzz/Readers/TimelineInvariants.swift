import FerryManifest
import FerrySimulation

@testable import FerryEngine
@testable import FerryPlan

/// Invariants of a file of conditions for `ferry plan --simulate --conditions`.
enum TimelineInvariants {
  private static let start = Instant(nanoseconds: 1_774_000_000_000_000_000)

  static func violations(by input: [UInt8]) -> [String] {
    let (timeline, _, diagnostics) = ConditionTimeline.read(input, file: "t.yaml")
    guard let timeline else { return diagnostics.isEmpty ? ["there is neither a timeline nor an error"] : [] }
    do throws(UsageError) {
      try MomentText.check(timeline, in: .utc)
    } catch {
      return error.description.contains("\nhelp: ") ? [] : ["there is no remedy: \(error)"]
    }
    let end = start.advanced(by: .seconds(40 * 86_400))
    let conditions = DeviceConditions(network: .wifi, isExpensive: false, power: .external)
    let (_, changes) = timeline.conditions(from: start, until: end, in: .utc, at: conditions)
    var violations: [String] = []
    if !zip(changes, changes.dropFirst()).allSatisfy({ $0.at <= $1.at }) { violations.append("not in order") }
    if !changes.allSatisfy({ $0.at > start && $0.at < end }) {
      violations.append("a change outside of the time")
    }
    if changes.count > timeline.entries.count * 43 { violations.append("\(changes.count) changes") }
    return violations
  }
}

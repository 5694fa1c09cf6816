import FerryPlan

/// The runs in a state folder, newest first. The JSON keys are a stable public interface.
package struct RunsDocument: Encodable, Sendable {
  /// The version of this format.
  package var version = 1
  package var runs: [Entry]

  package enum State: String, Encodable, Sendable {
    case running, ended
    /// The process was terminated.
    case interrupted
  }

  package struct Entry: Encodable, Sendable {
    package var id: String
    package var manifests: [Round]
    package var launch: LaunchKind
    package var state: State
    package var startedAt: String
    package var endedAt: String?
    package var exitCode: Int32?
    /// The process, if it is still running.
    package var pid: Int32?
    /// The path of the report; absent if there is none.
    package var report: String?

    package init(
      id: String, manifests: [Round], launch: LaunchKind, state: State, startedAt: Instant, endedAt: Instant?,
      exitCode: Int32?, pid: Int32?, report: String?
    ) {
      self.id = id
      self.manifests = manifests
      self.launch = launch
      self.state = state
      self.startedAt = startedAt.rfc3339
      self.endedAt = endedAt?.rfc3339
      self.exitCode = exitCode
      self.pid = pid
      self.report = report
    }
  }

  package struct Round: Encodable, Sendable {
    package var name: String
    package var round: Int64

    package init(name: String, round: Int64) {
      self.name = name
      self.round = round
    }
  }

  package init(runs: [Entry]) { self.runs = runs }
}

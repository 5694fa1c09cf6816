/// ferry's exit codes (docs/commands/README.md). The raw values are the process's exit codes.
package enum ExitCode: Int32, Codable, Sendable, CaseIterable {
  /// All requested work is done, or there was nothing to do.
  case success = 0
  /// Some items failed permanently or were canceled, or their outcome is ambiguous.
  case itemsFailed = 1
  case usage = 2
  case invalidManifest = 3
  /// A file changed after it was listed, or during its transfer.
  case integrity = 4
  /// Temporary failures remain; `ferry resume` continues.
  case temporary = 5
  case sessionInUse = 6
  case authorization = 7
  /// Remaining work waits for a budget, conditions or a delay.
  case deferred = 8
  /// `--max-duration` or the execution window stopped the run.
  case cutOff = 10
  /// An internal error in ferry.
  case fault = 70
  case interrupted = 130
  case terminated = 143

  /// Whether the run failed. Otherwise, all work is done, or a later run continues the remaining work automatically.
  package var isFailure: Bool {
    switch self {
    case .success, .deferred, .cutOff: false
    case .itemsFailed, .usage, .invalidManifest, .integrity, .temporary, .sessionInUse, .authorization,
      .fault,
      .interrupted, .terminated:
      true
    }
  }

  /// The meaning as a word (`${run.status}`). The words are a stable public interface.
  package var word: String {
    switch self {
    case .success: "success"
    case .itemsFailed: "items_failed"
    case .usage: "usage"
    case .invalidManifest: "invalid_manifest"
    case .integrity: "integrity"
    case .temporary: "temporary"
    case .sessionInUse: "session_in_use"
    case .authorization: "authorization"
    case .deferred: "deferred"
    case .cutOff: "cut_off"
    case .fault: "fault"
    case .interrupted: "interrupted"
    case .terminated: "terminated"
    }
  }

  /// If several exit codes apply, the first in this order is used.
  package static let precedence: [ExitCode] = [
    .interrupted, .terminated, .fault, .usage, .invalidManifest, .integrity, .authorization, .itemsFailed,
    .sessionInUse, .temporary, .cutOff, .deferred, .success,
  ]

  package static func first(of codes: Set<ExitCode>) -> ExitCode {
    precedence.first(where: codes.contains) ?? .success
  }
}

/// How ferry ends (docs/commands.md). Raw values are the process's.
package enum ExitCode: Int32, Codable, Sendable, CaseIterable {
  /// Everything that was asked is done, or there was nothing to do.
  case success = 0
  /// Some items failed for good, or ended ambiguous.
  case itemsFailed = 1
  case usage = 2
  case invalidManifest = 3
  /// A source changed under way.
  case integrity = 4
  /// Temporary failures are left; resume goes on.
  case temporary = 5
  case sessionInUse = 6
  case authorization = 7
  /// Budget, conditions or delay.
  case deferred = 8
  /// Cut off by `--max-duration` or the execution window.
  case cutOff = 10
  /// A fault of ferry's own.
  case fault = 70
  case interrupted = 130
  case terminated = 143

  /// Of several the first in this order wins.
  package static let precedence: [ExitCode] = [
    .interrupted, .terminated, .fault, .usage, .invalidManifest, .integrity, .authorization, .itemsFailed,
    .sessionInUse, .temporary, .cutOff, .deferred, .success,
  ]

  package static func first(of codes: Set<ExitCode>) -> ExitCode {
    precedence.first(where: codes.contains) ?? .success
  }
}

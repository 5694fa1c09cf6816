import FerryJournal
import FerryPlan

/// A pass over the shards that has ended.
package struct EndedPass: Sendable {
  /// The exit code of the run that ended it; `temporary` if no run did, or if its exit code is unknown.
  package let exitCode: ExitCode
  /// The command that begins the next pass.
  package let setup: String
}

extension Launch {
  /// The last pass, if it has ended and this launch is `finish`.
  ///
  /// A scheduler may start `finish` again, for example because a machine failed after it had ended. It must not begin
  /// another pass, because it would send the requests of `setup` again, and the next `setup` would not send them. If
  /// nothing runs before the shards, `finish` can begin a pass.
  func endedPass(_ history: RunHistory) throws -> EndedPass? {
    guard let job = jobs.all.first, case .finish(let count) = job.part else { return nil }
    let before = try Selection(beforeUploadsOf: job.plan)
    guard
      job.plan.nodes.indices.contains(where: {
        before.contains(NodeID($0)) && job.plan.nodes[$0].kind != .token
      }),
      let round = try history.latestRound(manifest: job.plan.manifest), round.pass != nil,
      round.closedAt != nil
    else { return nil }
    // If no run closed the round, `ferry cancel` or `ferry reset` has dropped the pass. A run that was killed after it
    // had closed the round may have no exit code.
    let code = try round.closedBy.flatMap { try history.run(id: $0)?.exitCode }
    return EndedPass(
      exitCode: code.flatMap(ExitCode.init) ?? .temporary,
      setup: try job.setupCommand(count: count, beside: state))
  }
}

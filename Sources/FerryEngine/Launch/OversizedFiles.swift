import FerryManifest
import FerryPlan

/// Finds files that exceed every budget and would therefore wait indefinitely.
enum OversizedFiles {
  /// F0801, reported once per upload.
  static func find(_ job: Job, launchState: LaunchState, launch: LaunchKind) -> [Diagnostic] {
    job.plan.nodes.indices.compactMap { index -> Diagnostic? in
      let node = job.plan.nodes[index]
      let session = job.plan.sessions[node.session.index]
      guard case .upload(let table, _) = launchState.starts[index] else { return nil }
      let sizes = table.files.sizes
      let found = sizes.indices.filter { item in
        table.begun[item]?.state != .transferred
          && !job.plan.canEverFit(
            sizes[item], of: NodeID(index),
            isDiscretionary: session.isDiscretionary(ifOfBackground: launch != .foreground))
      }
      guard let largest = found.max(by: { sizes[$0] < sizes[$1] }) else { return nil }
      let file =
        "\(String(decoding: table.files.path(largest), as: UTF8.self).quoted) (\(ByteText.text(sizes[largest])))"
      return diagnostic(job, session, launch, file: file, count: found.count)
    }
  }

  private static func diagnostic(
    _ job: Job, _ session: SessionPlan, _ launch: LaunchKind, file: String, count: Int
  ) -> Diagnostic? {
    // Find the strictest budget of each network that the session may use, and report the largest of them.
    let isDiscretionary = session.isDiscretionary(ifOfBackground: launch != .foreground)
    let budgets = session.networks.compactMap { network in
      job.plan.policies.budgets.limits(on: network, isDiscretionary: isDiscretionary)
        .filter { $0.budget.cutoff != .soft }.min { $0.budget.limit < $1.budget.limit }
    }
    guard let nearest = budgets.max(by: { $0.budget.limit < $1.budget.limit }) else { return nil }
    let subject = count == 1 ? "\(file) is" : "\(count) files are"
    let largest = count == 1 ? "" : "; the largest is \(file)"
    return Diagnostic(
      .fileOverBudget,
      at: job.manifest.places.limits[nearest.scope.rawValue] ?? job.manifest.name.location,
      "\(subject) larger than the budget of any network that session \(session.name.quoted) may use: at most "
        + "\(ByteText.text(nearest.budget.limit)) per \(nearest.budget.per.rawValue), \(nearest.scope.networks)\(largest)",
      help: "raise the limit, use 'cutoff: soft', which lets a started transfer finish, or exclude such files"
    )
  }
}

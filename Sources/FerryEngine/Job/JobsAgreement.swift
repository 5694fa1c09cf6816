import FerryManifest
import FerryPlan

/// Checks that the manifests of one launch agree on shared values, and reports conflicts.
enum JobsAgreement {
  private static let remedy = "use the same value in both, or run each separately"

  /// Checks everything except the conflicts that `Plan(combining:)` finds. Usage errors come first.
  static func check(_ jobs: [Job]) throws {
    for (index, job) in jobs.enumerated() {
      for other in jobs[..<index] { try checkUsage(job, beside: other) }
    }
    for (index, job) in jobs.enumerated() {
      try checkConditions(job, against: jobs[0])
      for other in jobs[..<index] { try checkCommands(job, against: other) }
    }
  }

  private static func checkUsage(_ job: Job, beside other: Job) throws(UsageError) {
    guard other.plan.manifest != job.plan.manifest else {
      throw UsageError(
        "\(other.path) and \(job.path): both have the name '\(job.plan.manifest)'\n"
          + "help: a run can include a manifest only once; pass each file once, and give each manifest a different 'name'"
      )
    }
    if job.readsStandardInput, other.readsStandardInput {
      throw UsageError(
        "\(other.path) and \(job.path): both use 'list: -', but there is only one standard input\n"
          + "help: run each separately")
    }
  }

  /// A machine has only one set of conditions, so the manifests must agree on them.
  private static func checkConditions(_ job: Job, against first: Job) throws(EngineFault) {
    if job.manifest.conditions.network != first.manifest.conditions.network {
      throw differ(first, job, "conditions.network")
    }
    if job.manifest.conditions.power != first.manifest.conditions.power {
      throw differ(first, job, "conditions.power")
    }
  }

  /// A command is started in its manifest's folder, so the folders must be the same.
  private static func checkCommands(_ job: Job, against other: Job) throws(EngineFault) {
    guard job.folder != other.folder else { return }
    if !job.plan.policies.executionWindow.onExpiry.isEmpty {
      throw EngineFault(
        .invalidManifest,
        "\(job.path): 'execution_window.on_expiry' is started in the manifest's folder, but \(other.path) is in another "
          + "folder\nhelp: move both to one folder, or run each separately")
    }
    for session in job.plan.sessions where !session.onEvents.isEmpty && other.has(session: session.identifier)
    {
      throw EngineFault(
        .invalidManifest,
        "\(job.location(ofSession: session.identifier)): session '\(session.identifier)' is also used by "
          + "\(other.location(ofSession: session.identifier)), in a different folder, but 'on_events' is started in "
          + "the manifest's folder\nhelp: move both to one folder, or run each separately")
    }
  }

  static func fault(_ conflict: PlanConflict, _ jobs: [Job]) -> EngineFault {
    let first = jobs[conflict.first.index]
    let second = jobs[conflict.second.index]
    guard let session = conflict.session else { return differ(first, second, conflict.key) }
    return EngineFault(
      .invalidManifest,
      "\(second.location(ofSession: session)): '\(conflict.key)' of session '\(session)' differs from its value at "
        + "\(first.location(ofSession: session))\n"
        + "help: within one run, an identifier refers to a single session: \(remedy)")
  }

  private static func differ(_ first: Job, _ second: Job, _ key: String) -> EngineFault {
    EngineFault(
      .invalidManifest,
      "\(first.path) and \(second.path): they have different values for '\(key)', which the manifests of one run share\n"
        + "help: \(remedy)")
  }
}

extension Job {
  fileprivate var readsStandardInput: Bool {
    manifest.uploads.contains { if case .list("-", _) = $0.files.source { true } else { false } }
  }

  /// The location of the session with this identifier.
  fileprivate func location(ofSession identifier: String) -> String {
    let index = plan.sessions.firstIndex { $0.identifier == identifier }
    return index.map { "\(manifest.sessions[$0].name.location)" } ?? path
  }
}

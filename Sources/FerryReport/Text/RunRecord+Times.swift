import FerryPlan

extension RunRecord {
  /// The start of the run. A report that another program wrote may contain an invalid time.
  var startedAt: Instant { Instant(rfc3339: run.startedAt) ?? Instant(nanoseconds: 0) }
  var endedAt: Instant { Instant(rfc3339: run.endedAt) ?? startedAt }

  /// The duration of the run in seconds.
  var seconds: Double { max(0, startedAt.duration(to: endedAt).seconds) }

  /// The names of the run's manifests.
  var names: String { run.manifest ?? (run.manifests ?? []).map(\.name).joined(separator: ", ") }
}

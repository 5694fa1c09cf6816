import FerryPlan

/// A run whose process ended without recording the end of the run. The JSON keys are a stable public interface.
package struct InterruptedRun: Encodable, Sendable {
  package var run: String
  /// The process that no longer exists.
  package var pid: Int32
  package var startedAt: String
  /// The command line that continues the run's work.
  package var resume: String

  package init(run: String, pid: Int32, startedAt: Instant, resume: String) {
    self.run = run
    self.pid = pid
    self.startedAt = startedAt.rfc3339
    self.resume = resume
  }
}

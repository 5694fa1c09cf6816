import FerryPlan

/// The time at which a run of a manifest would next have work, as reported by `ferry next`. The JSON keys
/// are a stable public interface.
package struct NextRun: Encodable, Sendable {
  /// The raw values are a stable public interface.
  package enum When: String, Encodable, Sendable {
    case now
    /// The next run would have work at the time `at`.
    case later
    /// The next run would have work after a change that does not depend on the time.
    case event
  }

  package var manifest: String
  package var path: String
  package var when: When
  package var moment: Instant?
  /// The reason why the run has nothing to do now.
  package var reason: RecordedFailure?

  private enum CodingKeys: String, CodingKey {
    case manifest
    case path
    case when
    case at
    case reason
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(manifest, forKey: .manifest)
    try container.encode(path, forKey: .path)
    try container.encode(when, forKey: .when)
    try container.encodeIfPresent(moment?.rfc3339, forKey: .at)
    try container.encodeIfPresent(reason, forKey: .reason)
  }

  package init(
    manifest: String, path: String, when: When, moment: Instant? = nil, reason: RecordedFailure? = nil
  ) {
    self.manifest = manifest
    self.path = path
    self.when = when
    self.moment = moment
    self.reason = reason
  }
}

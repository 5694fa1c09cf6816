import FerryPlan

/// The transfer rate of an upload's largest file in one run.
package struct RateRow: Hashable, Sendable {
  package var manifest: String
  /// The upload's name.
  package var upload: String
  /// The session's identifier.
  package var session: String
  package var sample: TransferSample

  package init(manifest: String, upload: String, session: String, sample: TransferSample) {
    self.manifest = manifest
    self.upload = upload
    self.session = session
    self.sample = sample
  }
}

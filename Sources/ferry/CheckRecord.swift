import FerryEngine
import FerryManifest

/// The output of `ferry check --format json`. The JSON keys are a stable public interface.
struct CheckRecord: Encodable {
  var manifests: [Manifest]

  struct Manifest: Encodable {
    var file: String
    /// Whether the manifest has no errors. It may have warnings.
    var valid: Bool
    var diagnostics: [DiagnosticRecord]
    var needs: [ExternalInput]

    init(_ reading: Job.Reading, path: String) {
      file = path
      valid = reading.job != nil
      diagnostics = reading.diagnostics.map(DiagnosticRecord.init)
      needs = reading.needs
    }
  }
}

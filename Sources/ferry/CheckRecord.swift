import FerryEngine
import FerryManifest

/// What `ferry check --format json` writes; its keys are an interface.
struct CheckRecord: Encodable {
  var manifests: [Manifest]

  struct Manifest: Encodable {
    var file: String
    /// There is no error; warnings may be.
    var valid: Bool
    var diagnostics: [DiagnosticRecord]
    var needs: [Need]

    init(_ reading: Job.Reading, path: String) {
      file = path
      valid = reading.job != nil
      diagnostics = reading.diagnostics.map(DiagnosticRecord.init)
      needs = reading.needs
    }
  }
}

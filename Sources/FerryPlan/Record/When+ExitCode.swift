import FerryManifest

extension SingleRequest.When {
  /// Whether a request of `on_end` is sent after a run with this exit code.
  package func allows(_ code: ExitCode) -> Bool {
    switch self {
    case .always: true
    case .succeeded: code == .success
    case .failed: code.isFailure
    }
  }
}

import FerryManifest

extension ExecutionWindow {
  /// The length of the window that opens with a launch; `nil` if none does. The window of a foreground launch opens
  /// with a hangup.
  package func length(of launch: LaunchKind) -> Duration? {
    switch launch {
    case .foreground: nil
    case .background: background
    case .fetch: fetch
    case .event: event
    case .continuous: continuous
    }
  }
}

import FerryManifest

extension ExecutionWindow {
  /// The length of the window that opens with a launch; `nil` if none opens. The window of a foreground launch opens
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

  /// The end of the window after a resume: the window of the resume extends the current one, or follows it.
  ///
  /// - Parameter end: the end of the current window; `nil` if the launch has none. In that case, a resume does not
  ///   open one either.
  package func end(_ end: Instant?, afterResumeAt resumedAt: Instant) -> Instant? {
    guard let end, let resume else { return end }
    return max(end, resumedAt.advanced(by: resume))
  }
}

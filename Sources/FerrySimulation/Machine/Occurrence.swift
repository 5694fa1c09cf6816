import FerryPlan

/// An external event on a virtual machine at a predetermined time.
package enum Occurrence: Sendable {
  case stop(StopCause)
  case hangUp
  /// The network or power source changes, for the present launch and for later launches.
  case conditions(DeviceConditions)
  /// Other processes transfer bytes.
  case othersMove(DeviceConditions.Network, Int64)
  case cancel(SessionID, finishing: Bool, failure: RecordedFailure = .cancelled)
  case drain(SessionID, failure: RecordedFailure = .cancelled)
  /// Further files, sorted by path bytes, are submitted to an upload.
  case submit(NodeID, FileColumns)

  /// Whether the event affects the machine even if no launch is running.
  var needsNoLaunch: Bool {
    switch self {
    case .conditions, .othersMove: true
    case .stop, .hangUp, .cancel, .drain, .submit: false
    }
  }
}

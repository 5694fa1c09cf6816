/// What happens to a virtual machine from outside at a moment that is known beforehand.
package enum Occurrence: Sendable {
  case stop(StopCause)
  case hangUp
  /// The network or the power is another from now on, also for later launches.
  case conditions(DeviceConditions)
  /// Other processes move bytes.
  case othersMove(DeviceConditions.Network, Int64)
  case cancel(SessionID, finishing: Bool)
  /// Further files for an upload; sorted by path bytes.
  case submit(NodeID, FileColumns)

  /// Whether it happens to the machine also while nothing is launched.
  var needsNoLaunch: Bool {
    switch self {
    case .conditions, .othersMove: true
    case .stop, .hangUp, .cancel, .submit: false
    }
  }
}

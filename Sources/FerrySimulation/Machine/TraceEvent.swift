import FerryPlan

/// One observation in a turn of a virtual machine.
package enum TraceEvent: Sendable {
  /// A launch begins with these options.
  case launched(LaunchOptions)
  case event(Event)
  /// The action is about to be performed.
  case action(Action)
  /// A request that was sent, and its outcome.
  case sent(Call, Reply)
  /// The body bytes that a request has transferred since its last such event, on the machine's network at
  /// that time.
  case moved(UInt64, DeviceConditions.Network, sent: Int64, received: Int64)
  /// The bytes that other processes have transferred.
  case othersMoved(DeviceConditions.Network, Int64)
  case leased(Lease)
  /// An invariant of the scheduler was violated (`checksInvariants`).
  case contradiction(String)
  /// The process was killed.
  case died
}

/// One thing that was seen in a turn of a virtual machine.
package enum TraceEvent: Sendable {
  /// A launch begins with these.
  case launched(LaunchOptions)
  case event(Event)
  /// It is about to be performed.
  case action(Action)
  /// A request that was sent, and what will become of it.
  case sent(Call, Reply)
  /// Bytes of a request's bodies that have moved since this was last seen of it, on the network that the machine
  /// was on.
  case moved(UInt64, DeviceConditions.Network, sent: Int64, received: Int64)
  /// Bytes that another process has moved.
  case othersMoved(DeviceConditions.Network, Int64)
  case leased(Lease)
  /// The process was killed.
  case died
}

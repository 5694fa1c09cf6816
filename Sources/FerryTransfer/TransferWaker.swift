/// Ends the wait of a `TransferLoop.turn`, from any thread.
package struct TransferWaker: Sendable {
  let mailbox: Mailbox

  /// The current turn, or else the next one, returns without waiting further. Does nothing once the loop is
  /// gone.
  package func wake() { mailbox.wake() }
}

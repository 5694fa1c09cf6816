import FerryPlan

/// The outcome of a digest that was requested with `TransferLoop.digest`.
package struct DigestOutcome: Sendable {
  package var id: UInt64
  /// The digest, or the failure: `sourceMissing`, `sourceUnreadable`, `sourceChanged` or
  /// `resourceTimeout`.
  package var result: Result<[UInt8], TransportFailure>
}

import FerryPlan

/// The SHA-256 of a file that was asked for with `TransferLoop.digest`.
package struct DigestOutcome: Sendable {
  package var id: UInt64
  /// 32 bytes, or why there are none: `sourceMissing`, `sourceUnreadable`, `sourceChanged`.
  package var result: Result<[UInt8], TransportFailure>
}

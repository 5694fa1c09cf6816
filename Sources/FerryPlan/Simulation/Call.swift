/// A request as a simulated server sees it.
package struct Call: Sendable {
  package var attempt: Attempt
  /// Which attempt at this step of this place, in this launch, from 1; 0 where the machine does not count.
  package var number: Int
  /// The node's name.
  package var node: String
  /// Of the item, as bytes; empty for a node of a single request.
  package var pathBytes: ArraySlice<UInt8>
  /// Of the file that a transfer sends; 0 for other steps.
  package var size: Int64
  /// The upload ID that it carries.
  package var uploadID: Int?
  package var now: Instant

  package var step: Step.Kind { attempt.step }
  package var path: String { String(decoding: pathBytes, as: UTF8.self) }
}

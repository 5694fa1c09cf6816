import FerryPlan

/// A request as a simulated server receives it.
package struct Call: Sendable {
  package var attempt: Attempt
  /// The number of the attempt at this step of this item or node in this launch, counted from 1; 0 if the
  /// machine does not count attempts.
  package var number: Int
  /// The node's name.
  package var node: String
  /// The item's path; empty for a node with a single request.
  package var pathBytes: ArraySlice<UInt8>
  /// The size of the file that a transfer sends or a download receives, according to the list of files; 0 for
  /// other steps.
  package var fileSize: Int64
  /// The upload ID in the request.
  package var uploadID: Int?
  package var now: Instant

  package var step: Step.Kind { attempt.step }
  /// The number of the file's bytes in the request.
  package var size: Int64 { step == .transfer ? attempt.operation.length(of: fileSize) : 0 }
  package var path: String { String(decoding: pathBytes, as: UTF8.self) }
}

extension Call {
  /// The protocol of the call's upload if it is tus with concatenation.
  package func concatenation(in plan: Plan) -> Tus? {
    guard case .upload(let work) = plan.nodes[attempt.ref.node.index].work,
      case .tus(let machine) = work.transferProtocol, machine.concatenates
    else { return nil }
    return machine
  }
}

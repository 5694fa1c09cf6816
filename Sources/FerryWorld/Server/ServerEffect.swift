import FerryPlan

/// A permanent effect of a request on the server.
package struct ServerEffect: Sendable {
  var node: Int
  var path: [UInt8]
  var step: Step.Kind
}

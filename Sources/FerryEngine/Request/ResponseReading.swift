import FerryManifest
import FerryPlan
import FerryTransfer

/// The result of reading one response of a step: whether it meets `expect`, and the captured values.
struct ResponseReading: Sendable {
  /// The reason why the response does not meet `expect`. The status is checked elsewhere.
  var mismatch: ExpectationCheck.Mismatch?
  /// The captured values, or the failure to read them; empty if there is a mismatch.
  var captures: Result<[CapturedValue], TransportFailure> = .success([])

  /// Reads a response with an expected status whose body is in memory.
  init(_ answer: TransferResponse, of step: Step, _ patterns: Patterns) {
    mismatch = ExpectationCheck.mismatch(step.expect, answer, patterns)
    guard mismatch == nil, !step.capture.isEmpty else { return }
    captures = Result { () throws(TransportFailure) in
      try CaptureReader.read(step.capture, from: answer, patterns)
    }
  }
}

import FerryManifest
import FerryPlan
import FerryTransfer

/// Decides whether a body that lacks an expected or captured value means that the response was lost, or that
/// the request was refused.
enum BodyDoubt {
  /// The reason why the response is not used; `nil` if the response is used.
  static func failure(
    _ response: AttemptResult.Response, _ answer: TransferResponse, to step: Step
  ) -> TransportFailure? {
    guard response.mismatch != nil || response.missing != nil, readsBody(step),
      ExpectationCheck.headerMismatch(step.expect, answer) == nil
    else { return nil }
    if let coding = answer.unrequestedCoding {
      return TransportFailure(
        .malformedResponse,
        "the response has \(ContentCoding.shown(coding)), which was not requested",
        mayHaveReachedServer: true)
    }
    guard answer.isCloseDelimited, !isSelfDelimited(answer.body) else { return nil }
    return TransportFailure(
      .connectionLost,
      "the response has no length, and the connection closed before the values for 'expect' or 'capture' arrived",
      mayHaveReachedServer: true)
  }

  private static func readsBody(_ step: Step) -> Bool {
    if !step.expect.json.isEmpty || step.expect.regex != nil { return true }
    return step.capture.contains { capture in
      switch capture.source {
      case .json, .xml, .regex: true
      case .status, .header: false
      }
    }
  }

  /// Whether a truncated body would fail to parse: a JSON object, array or string, or an XML document.
  private static func isSelfDelimited(_ body: [UInt8]) -> Bool {
    // A body that is neither JSON nor XML, or that is too large to be parsed, is not self-delimited.
    switch try? JSONParser.parse(body) {
    case .object, .array, .string: true
    case .number, .bool, .null: false
    case nil: (try? XMLReader.read(body)) != nil
    }
  }
}

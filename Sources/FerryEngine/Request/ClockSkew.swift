import FerryPlan
import FerryTransfer

/// Recognizes the error document with which S3 refuses a signature whose time differs too much from the time of S3's
/// clock ("Error responses" in the Amazon S3 API Reference: 15 minutes).
enum ClockSkew {
  /// The maximum size of a body that is examined, in bytes.
  private static let examined = 16 << 10

  /// An explanation for the failure's message; `nil` for any other response.
  static func explanation(_ response: TransferResponse, at now: Instant) -> String? {
    guard response.status == 403, response.unrequestedCoding == nil, response.body.count <= examined,
      let document = try? XMLReader.read(response.body), document.name == "Error",
      document.text(of: "Code") == "RequestTimeTooSkewed"
    else { return nil }
    let server =
      response.header("Date").flatMap(HTTPDate.instant).map {
        "the Date of the response is \($0.rfc3339(in: .utc))"
      }
      ?? "the response has no Date"
    return
      "this machine's clock shows \(now.rfc3339(in: .utc)), but \(server); signatures contain "
      + "the time, so the clocks must not differ by more than 15 minutes"
  }
}

import FerryPlan
import Testing

@Suite("The reason of a cancellation")
struct CancelReasonTests {
  @Test func `is one line of at most 200 characters`() throws {
    #expect(try CancelReason("moved to tape \u{2013} ticket \"OPS-7\"").text.hasSuffix("\"OPS-7\""))
    #expect(try CancelReason(String(repeating: "\u{E9}", count: 200)).text.count == 200)
    #expect(throws: CancelReason.Refusal.tooLong(201)) {
      try CancelReason(String(repeating: "\u{E9}", count: 201))
    }
    // One `Character` with many combining marks is too long, although it counts as one.
    #expect(throws: CancelReason.Refusal.tooLong(301)) {
      try CancelReason("a" + String(repeating: "\u{301}", count: 300))
    }
    for empty in ["", " ", "\u{3000}"] {
      #expect(throws: CancelReason.Refusal.empty) { try CancelReason(empty) }
    }
  }

  @Test(arguments: ["a\nb", "a\r", "\u{1B}[2J", "a\tb", "a\u{0}", "a\u{202E}b", "a\u{200B}b", "a\u{2028}b"])
  func `has no control characters and no invisible characters`(text: String) {
    #expect(throws: CancelReason.Refusal.hostile) {
      try CancelReason(text)
    }
  }

  @Test func `follows the message, which is unchanged without it`() throws {
    #expect(RecordedFailure.cancelled(nil) == .cancelled)
    #expect(RecordedFailure.cancelled.message == "canceled by ferry cancel")
    #expect(
      RecordedFailure.cancelled(try CancelReason("x"))
        == RecordedFailure(code: .cancelled, message: "canceled by ferry cancel: x"))
  }
}

import Testing

@testable import FerryTransfer

@Suite("The content codings of a response")
struct ContentCodingTests {
  @Test(arguments: [
    ("gzip", "gzip"), (" X-GZip ;q=1, br", "gzip, br"), ("identity", nil), ("", nil), ("gz\u{E9}", "unknown"),
  ])
  func arePrintedInLowerCase(value: String, codings: String?) {
    #expect(ContentCoding.unrequested(in: [("Content-Encoding", value)], of: []) == codings)
  }

  /// Comparing this value as text would take quadratic time, because its marks are in the worst order for
  /// normalization.
  @Test func aLongRunOfCombiningMarksIsReadInLinearTime() {
    let marks = String(repeating: "\u{301}", count: 25_000) + String(repeating: "\u{316}", count: 25_000)
    let time = ThreadTime.measure {
      for _ in 0..<10 {
        #expect(ContentCoding.unrequested(in: [("content-encoding", marks)], of: []) == "unknown")
      }
    }
    #expect(time < .seconds(5), "\(time)")
    #expect(!marks.isField(named: "content-encoding") && "ETag".isField(named: "eTAG"))
  }
}

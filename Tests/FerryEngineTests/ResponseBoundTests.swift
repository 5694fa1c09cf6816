import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// Responses of the maximum size, constructed to require as much work as possible.
struct ResponseBoundTests {
  private static let size = 1 << 20

  /// The text ends with the last letter of `(\\d+) items`; without it, PCRE2 would not start the search.
  private static let digits = String(repeating: "7", count: size - 2) + " s"

  private func answer(_ body: String, header: String = "") -> TransferResponse {
    TransferResponse(
      status: 200, headers: [("X-Id", header)], body: Array(body.utf8), url: "http://h/", sha256: nil)
  }

  private func read(_ captures: [Capture], _ answer: TransferResponse) throws -> [CapturedValue] {
    try CaptureReader.read(captures, from: answer, Patterns(captures))
  }

  private func failure(_ message: String) -> TransportFailure {
    TransportFailure(.capture, message, mayHaveReachedServer: true)
  }

  @Test func aPatternThatTakesTooLongFailsItsCapture() {
    let captures = [Capture(name: "n", source: .regex("(\\d+) items"))]
    #expect(throws: failure("searching this response for the pattern of 'n' takes too many steps")) {
      try read(captures, answer(Self.digits))
    }
  }

  /// At each digit, PCRE2 scans all following digits. This takes few steps, but half a minute. The limit on CPU time
  /// ends the search.
  @Test func aPatternWhoseStepsAreLongFailsToo() {
    let captures = [Capture(name: "n", source: .regex("(\\d{60000})x"))]
    let run = String(repeating: "7", count: 59_999) + " "
    #expect(throws: failure("searching this response for the pattern of 'n' takes too many steps")) {
      try read(captures, answer(String(repeating: run, count: 17) + "x"))
    }
  }

  @Test func anExpectationThatTakesTooLongIsNotARejection() {
    let expectation = Expectation(regex: "(\\d+) items")
    let mismatch = ExpectationCheck.mismatch(
      expectation, answer(Self.digits), Patterns([], expectation))
    #expect(
      mismatch
        == .init(
          message: "searching this response for the pattern of 'expect' takes too many steps",
          kind: .undecided))
  }

  @Test func aValueIsNoLargerThanItsCaptureAllows() throws {
    let long = String(repeating: "a", count: 64 << 10)
    let json = Capture(name: "id", source: .json(pointer: "/id"))
    #expect(try read([json], answer("{\"id\":\"\(long)\"}")).first?.value == long)
    #expect(throws: failure("the size of 'id' is 65537 bytes, which exceeds its 'max_size' of 65536")) {
      try read([json], answer("{\"id\":\"\(long)a\"}"))
    }
    let header = Capture(name: "id", source: .header("X-Id"))
    #expect(throws: TransportFailure.self) { try read([header], answer("", header: long + "a")) }
    let regex = Capture(name: "id", source: .regex("(a+)"))
    #expect(throws: TransportFailure.self) { try read([regex], answer(long + "a")) }
    let large = Capture(name: "id", source: .regex("(a+)"), maxSize: 1 << 20)
    #expect(try read([large], answer(long + "a")).first?.value.utf8.count == 65_537)
    let small = Capture(name: "id", source: .regex("(a+)"), maxSize: 2)
    #expect(throws: failure("the size of 'id' is 3 bytes, which exceeds its 'max_size' of 2")) {
      try read([small], answer("aaa"))
    }
  }

  @Test func theValuesOfOneResponseAreBoundedTogether() throws {
    let long = String(repeating: "a", count: 64 << 10)
    let captures = (1...5).map { Capture(name: "c\($0)", source: .regex("(a+)")) }
    #expect(try read(Array(captures.prefix(4)), answer(long)).count == 4)
    #expect(throws: failure("the captured values are larger than 262144 bytes in total")) {
      try read(captures, answer(long))
    }
  }

  @Test(arguments: [
    ("numbers", "1", "the response's JSON contains more than 100000 values"),
    ("texts", "\"\"", "the response's JSON contains more than 100000 values"),
    ("arrays", "[]", "the response's JSON contains more than 100000 values"),
    ("objects", "{}", "the response's JSON contains more than 100000 values"),
  ]) func theNumberOfValuesIsBounded(_ what: String, _ value: String, _ message: String) {
    let count = Self.size / (value.utf8.count + 1) - 1
    let body = "[" + Array(repeating: value, count: count).joined(separator: ",") + "]"
    #expect(throws: failure(message)) {
      try read([Capture(name: "c", source: .json(pointer: "/0"))], answer(body))
    }
  }

  @Test func theNumberOfMembersIsBounded() {
    let body = "{" + Array(repeating: "\"\":1", count: 200_000).joined(separator: ",") + "}"
    #expect(throws: failure("the response's JSON contains more than 100000 values")) {
      try read([Capture(name: "c", source: .json(pointer: "/a"))], answer(body))
    }
  }

  @Test func aLargeButOrdinaryListIsRead() throws {
    let body = "[" + (0..<90_000).map(String.init).joined(separator: ",") + "]"
    #expect(
      try read([Capture(name: "c", source: .json(pointer: "/89999"))], answer(body)).first?.value == "89999")
  }

  @Test func aNumberOfAMillionDigitsIsNotConverted() {
    let body = "{\"n\":" + String(repeating: "9", count: Self.size - 10) + "}"
    let expectation = Expectation(json: [.init(pointer: "/n", value: .integer(9))])
    #expect(
      ExpectationCheck.mismatch(expectation, answer(body), Patterns())
        == .init(message: "/n in the response's JSON does not have the expected value", kind: .different))
    #expect(throws: TransportFailure.self) {
      try read([Capture(name: "n", source: .json(pointer: "/n"))], answer(body))
    }
  }
}

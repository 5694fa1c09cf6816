import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct CaptureReaderTests {
  private func answer(_ body: String) -> TransferResponse {
    TransferResponse(
      status: 201, headers: [("Location", "/x"), ("X-A", "1"), ("x-a", "2")], body: Array(body.utf8),
      url: "http://h/",
      sha256: nil)
  }

  private func mismatch(_ expectation: FerryManifest.Expectation, _ answer: TransferResponse) -> String? {
    ExpectationCheck.mismatch(expectation, answer, Patterns([], expectation))?.message
  }

  private func read(_ source: Capture.Source, _ body: String = "") throws -> String? {
    let captures = [Capture(name: "c", source: source)]
    return try CaptureReader.read(captures, from: answer(body), Patterns(captures)).first?.value
  }

  /// S3 and moto name the root of the response to a completion differently; a 200 can report an error.
  @Test(arguments: [
    ("<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>", nil),
    ("<CompleteMultipartUploadResponse><ETag>1</ETag></CompleteMultipartUploadResponse>", nil),
    ("<Error><Code>InternalError</Code><ETag>1</ETag></Error>", "the response reports an error"),
    ("<error><ETag>1</ETag></error>", "the response reports an error"),
    ("<Result><ETag>1</ETag><Error><Code>C</Code></Error></Result>", "the response reports an error"),
    ("<Result><ERROR/><ETag>1</ETag></Result>", "the response reports an error"),
    ("<ErrorResponse><ETag>1</ETag></ErrorResponse>", "the response reports an error"),
    ("<Result><Errors><Error/></Errors><ETag>1</ETag></Result>", "the response reports an error"),
    ("<Result><Part><Error/></Part><ETag>1</ETag></Result>", "the response reports an error"),
    ("<Result/>", "there is no element */ETag in the response's XML"),
    ("<Result><ETag></ETag></Result>", "the element */ETag in the response's XML is empty"),
    ("<Result><ETag> &quot;&quot; </ETag></Result>", "the element */ETag in the response's XML is empty"),
    ("<Result><ETag><Code>1</Code></ETag></Result>", "the element */ETag in the response's XML is empty"),
    ("<Result><Key>error</Key><ETag>\"1\"</ETag></Result>", nil),
    ("<Result><ETag>1</ETag>", "the response is not an XML document"),
  ]) func anExpectedElementIsFoundWhateverTheRoot(_ body: String, _ message: String?) {
    var expectation = FerryManifest.Expectation()
    expectation.element = "*/ETag"
    #expect(mismatch(expectation, answer(body)) == message)
  }

  /// RFC 6901 §5.
  @Test(arguments: [
    ("/foo/0", "bar"), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"),
    ("/i\\j", "5"),
    ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"), ("/\u{301}o/\u{301}p", "9"),
  ]) func pointersFollowRFC6901(_ pointer: String, _ value: String) throws {
    let body = #"""
      {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"\#u{301}o":{"\#u{301}p":9}}
      """#
    #expect(try read(.json(pointer: pointer), body) == value)
  }

  @Test(arguments: [
    ("123456789012345678901234567890", "123456789012345678901234567890"), ("1.10", "1.10"),
    ("-0e+5", "-0e+5"),
    ("true", "true"), ("false", "false"), (#""\ud83d\ude00\u00e9\ud800x""#, "😀é\u{FFFD}x"), (#""""#, ""),
    ("\u{FEFF} 7 ", "7"),
  ]) func scalarsKeepTheirSpelling(_ body: String, _ value: String) throws {
    #expect(try read(.json(pointer: ""), body) == value)
  }

  @Test(arguments: [
    ("/id", "{}", "there is no /id in the response's JSON"),
    ("/id", #"{"id":null}"#, "/id in the response's JSON is null"),
    ("/id", #"{"id":{}}"#, "/id in the response's JSON is an object"),
    ("/01", "[1,2]", "there is no /01 in the response's JSON"),
    ("/-", "[1]", "there is no /- in the response's JSON"), ("/id", "<html>", "the response is not JSON"),
    ("/id", #"{"id":01}"#, "the response is not JSON"), ("/id", "", "the response is not JSON"),
    ("/0", String(repeating: "[", count: 500_000), "the response's JSON is nested more than 256 levels deep"),
  ]) func missingValuesAreReported(_ pointer: String, _ body: String, _ message: String) {
    #expect(throws: TransportFailure(.capture, message, mayHaveReachedServer: true)) {
      try read(.json(pointer: pointer), body)
    }
  }

  @Test(arguments: [
    ("<Upload><Id>a b</Id></Upload>", "a b"),
    ("<s3:Upload xmlns:s3='u'><s3:Id> 1\n</s3:Id></s3:Upload>", "1"),
    ("<Upload><Id/></Upload>", ""),
    ("<Upload><X/><Id>&lt;&#x41;<![CDATA[&amp;]]><!-- c -->z</Id></Upload>", "<A&amp;z"),
    ("<Upload><Id>1</Id><Id>2</Id></Upload>", "1"),
  ]) func xmlIsRead(_ body: String, _ value: String) throws {
    #expect(try read(.xml(path: "Upload/Id"), body) == value)
  }

  @Test(arguments: [
    ("<Upload/>", "there is no element Upload/Id in the response's XML"),
    ("<upload><Id>1</Id></upload>", "there is no element Upload/Id in the response's XML"),
    ("<Upload><Id>1<b/></Id></Upload>", "the element Upload/Id in the response's XML contains elements"),
    ("{}", "the response is not XML: not well-formed (invalid token) in line 1"),
    ("", "the response is not XML: no element found in line 1"),
    ("<Upload>\n<Id>1</Upload>", "the response is not XML: mismatched tag in line 2"),
    (
      "<!DOCTYPE html><html/>",
      "the response's XML has a document type declaration, which ferry does not read"
    ),
  ]) func missingXMLIsReported(_ body: String, _ message: String) {
    #expect(throws: TransportFailure(.capture, message, mayHaveReachedServer: true)) {
      try read(.xml(path: "Upload/Id"), body)
    }
  }

  @Test func headersStatusAndPatternsAreRead() throws {
    #expect(try read(.header("location")) == "/x")
    #expect(try read(.status) == "201")
    #expect(try read(.regex("id=([0-9]+)"), "x id=12;id=13") == "12")
    #expect(throws: TransportFailure.self) { try read(.regex("id=([0-9]+)"), "none") }
    #expect(throws: TransportFailure.self) { try read(.header("ETag")) }
  }

  @Test func expectationsCheckHeadersJSONAndText() {
    let answer = answer(#"{"ok":true,"n":1.0,"s":"1","z":null}"#)
    func json(_ pointer: String, _ value: JSONTemplate) -> Bool {
      mismatch(Expectation(json: [.init(pointer: pointer, value: value)]), answer) == nil
    }
    #expect(
      json("/ok", .bool(true)) && json("/n", .integer(1)) && json("/s", .string(Template(literal: "1"))))
    #expect(json("/z", .null) && !json("/s", .integer(1)) && !json("/n", .bool(true)) && !json("/q", .null))
    #expect(
      mismatch(Expectation(headers: [.init(name: "X-A", value: "2")], regex: "\"ok\""), answer) == nil)
    #expect(
      mismatch(Expectation(headers: [.init(name: "X-A", value: "3")]), answer)
        == "the header 'X-A' does not have the expected value")
    #expect(
      mismatch(Expectation(regex: "nope"), answer)
        == "the response does not match the expected pattern")
  }
}

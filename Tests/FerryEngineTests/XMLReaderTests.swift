import Testing

@testable import FerryEngine

struct XMLReaderTests {
  private func read(_ text: String) throws -> XMLValue { try XMLReader.read(Array(text.utf8)) }

  private func problem(_ bytes: [UInt8]) -> XMLProblem? {
    do throws(XMLProblem) {
      _ = try XMLReader.read(bytes)
      return nil
    } catch {
      return error
    }
  }

  /// The response to ListParts in the documentation of S3, shortened.
  @Test func repeatedElementsAreVisitedInOrder() throws {
    let parts = try read(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Bucket>example-bucket</Bucket>
        <NextPartNumberMarker>3</NextPartNumberMarker>
        <IsTruncated>true</IsTruncated>
        <Part><PartNumber>2</PartNumber><ETag>"7778aef83f66abc1fa1e8477f296d394"</ETag><Size>10485760</Size></Part>
        <Part><PartNumber>3</PartNumber><ETag>&quot;aaaa18db4cc2f85cedef654fccc4a4x8&quot;</ETag></Part>
      </ListPartsResult>
      """)
    #expect(parts.name == "ListPartsResult" && parts.text == nil)
    #expect(parts.text(of: "IsTruncated") == "true" && parts.text(of: "Part") == nil)
    #expect(parts.first(at: "ListPartsResult/NextPartNumberMarker")?.text == "3")
    let found = parts.all(at: "ListPartsResult/Part")
    #expect(found.map { $0.text(of: "PartNumber") } == ["2", "3"])
    #expect(
      found.map { $0.text(of: "ETag") } == [
        "\"7778aef83f66abc1fa1e8477f296d394\"", "\"aaaa18db4cc2f85cedef654fccc4a4x8\"",
      ])
    #expect(found.map { $0.text(of: "Size") } == ["10485760", nil])
    #expect(parts.all(at: "ListPartsResult/Part/Size").count == 1)
    #expect(
      parts.first(at: "Part") == nil && parts.first(at: "") == nil
        && parts.first(at: "ListPartsResult/") == nil)
  }

  @Test func theFirstElementIsFoundInASecondParent() throws {
    let value = try read("<a><b/><b><c>1</c></b><b><c>2</c></b></a>")
    #expect(value.first(at: "a/b/c")?.text == "1")
  }

  @Test func theRootMayHaveAnyNameIfThePathNamesNone() throws {
    for root in ["InitiateMultipartUploadResult", "InitiateMultipartUpload"] {
      #expect(try read("<\(root)><UploadId>1</UploadId></\(root)>").first(at: "*/UploadId")?.text == "1")
    }
    #expect(try read("<a><b><UploadId>1</UploadId></b></a>").first(at: "*/UploadId") == nil)
  }

  @Test func theRootIsRecognized() throws {
    #expect(try read("<Error><Code>InternalError</Code></Error>").name == "Error")
    #expect(try read("<e:Error xmlns:e='x'/>").name == "Error")
  }

  @Test func differentlyComposedNamesDiffer() throws {
    #expect(try read("<a><\u{E9}>1</\u{E9}></a>").first(at: "a/e\u{301}") == nil)
  }

  @Test func declaredEncodingsAreDecoded() throws {
    let utf16 = "\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><a>\u{20AC}</a>".utf16
    #expect(try XMLReader.read(utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }).text == "€")
    #expect(try XMLReader.read(utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }).text == "€")
    let latin = Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8) + [0xE9] + Array("</a>".utf8)
    #expect(try XMLReader.read(latin).text == "é")
    #expect(try XMLReader.read([0xEF, 0xBB, 0xBF] + Array("<a>1</a>".utf8)).text == "1")
  }

  @Test func hostileDocumentsAreRejected() {
    let laughs = """
      <?xml version="1.0"?>
      <!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>
      <lolz>&lol1;</lolz>
      """
    #expect(problem(Array(laughs.utf8)) == .documentType)
    let external = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>"
    #expect(problem(Array(external.utf8)) == .documentType)
    #expect(problem(Array("<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a/>".utf8)) == .documentType)
    #expect(
      problem(Array("<a>&x;</a>".utf8)) == .malformed(reason: "undefined entity", line: 1))
    #expect(problem(Array(String(repeating: "<a>", count: 100_000).utf8)) == .tooDeep)
    #expect(
      problem(Array("<a>".utf8) + Array(String(repeating: "<a/>", count: 250_000).utf8)) == .tooManyElements)
    let token = "not well-formed (invalid token)"
    #expect(
      problem(Array("<a>".utf8) + [0xC3, 0x28] + Array("</a>".utf8)) == .malformed(reason: token, line: 1))
    #expect(
      problem(Array("<a>".utf8) + [0xED, 0xA0, 0x80] + Array("</a>".utf8))
        == .malformed(reason: token, line: 1))
    #expect(problem(Array("<a>\0</a>".utf8)) == .malformed(reason: token, line: 1))
    #expect(
      problem(Array("<?xml version='1.0' encoding='x-none'?><a/>".utf8))
        == .malformed(reason: "unknown encoding", line: 1))
    #expect(problem(Array("<a/><b/>".utf8)) == .malformed(reason: "junk after document element", line: 1))
  }

  /// Each document has 1 MiB and is constructed to require much work or memory.
  @Test func largeDocumentsTakeLinearTime() throws {
    let size = 1 << 20
    let text = String(repeating: "&#65;", count: size / 5)
    #expect(try read("<a>\(text)</a>").text?.utf8.count == size / 5)
    let name = String(repeating: "n", count: size / 2)
    #expect(try read("<\(name)></\(name)>").name == name)
    let attributes = (0..<size / 12).map { "a\($0)='1'" }.joined(separator: " ")
    #expect(try read("<a \(attributes)/>").text == "")
    let pairs = String(repeating: "x<b/>", count: 99_999)
    #expect(try read("<a>\(pairs)</a>").children.count == 99_999)
    let depth = 255
    let deep = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(
      try read("<a>\(deep)</a>").first(at: Array(repeating: "a", count: 256).joined(separator: "/"))?.text
        == "")
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

@Suite struct `The framing of a form` {
  private static let file = FormParts.File(
    field: Array("photo".utf8), name: Array("a.jpg".utf8), contentType: Array("image/jpeg".utf8))

  private static func field(_ name: String, _ value: String, type: String? = nil) -> FormParts.Field {
    .init(name: Array(name.utf8), value: Array(value.utf8), contentType: type.map { Array($0.utf8) })
  }

  /// Returns these numbers in order, and then increasing numbers.
  private static func random(_ numbers: UInt64...) -> () -> UInt64 {
    var numbers = numbers
    var next: UInt64 = 0
    return {
      next += 1
      return numbers.isEmpty ? next : numbers.removeFirst()
    }
  }

  @Test func `consists of the expected bytes`() throws {
    let parts = FormParts(
      before: [Self.field("title", "Köln\r\n"), Self.field("title", "")],
      file: Self.file, after: [Self.field("about", "{}", type: "application/json")])
    let framing = try #require(FormFraming(parts, random: Self.random(0xAB, .max)))
    let boundary = "ferry-00000000000000abffffffffffffffff"
    #expect(framing.boundary == boundary)
    #expect(framing.contentType == "multipart/form-data; boundary=\(boundary)")
    #expect(
      String(decoding: framing.prefix, as: UTF8.self) == """
        --\(boundary)\r
        Content-Disposition: form-data; name="title"\r
        \r
        Köln\r
        \r
        --\(boundary)\r
        Content-Disposition: form-data; name="title"\r
        \r
        \r
        --\(boundary)\r
        Content-Disposition: form-data; name="photo"; filename="a.jpg"\r
        Content-Type: image/jpeg\r
        \r

        """)
    #expect(
      String(decoding: framing.suffix, as: UTF8.self) == """
        \r
        --\(boundary)\r
        Content-Disposition: form-data; name="about"\r
        Content-Type: application/json\r
        \r
        {}\r
        --\(boundary)--\r

        """)
  }

  @Test func `of a file alone consists of the expected bytes`() throws {
    let framing = try #require(FormFraming(FormParts(file: Self.file), random: Self.random()))
    let boundary = "ferry-00000000000000010000000000000002"
    #expect(
      String(decoding: framing.prefix, as: UTF8.self) == """
        --\(boundary)\r
        Content-Disposition: form-data; name="photo"; filename="a.jpg"\r
        Content-Type: image/jpeg\r
        \r

        """)
    #expect(String(decoding: framing.suffix, as: UTF8.self) == "\r\n--\(boundary)--\r\n")
  }

  /// WHATWG HTML, section 4.10.21.8: only these three bytes are escaped.
  @Test(arguments: [
    ("a \"b\".jpg", "a %22b%22.jpg"), ("a\r\nX: y\r\n\r\n.jpg", "a%0D%0AX: y%0D%0A%0D%0A.jpg"),
    ("100% %22 %.jpg", "100% %22 %.jpg"), ("back\\slash\\\"", "back\\slash\\%22"),
    ("Köln 😀.jpg", "Köln 😀.jpg"),
    ("cafe\u{301};=.jpg", "cafe\u{301};=.jpg"), ("tab\t\u{7F}", "tab\t\u{7F}"),
    (String(repeating: "ä", count: 3_000), String(repeating: "ä", count: 3_000)),
  ])
  func `quotes names as browsers do`(name: String, quoted: String) throws {
    var parts = FormParts(before: [Self.field(name, "")], file: Self.file)
    parts.file?.name = Array(name.utf8)
    parts.file?.field = Array(name.utf8)
    let framing = try #require(FormFraming(parts, random: Self.random()))
    let text = String(decoding: framing.prefix, as: UTF8.self)
    #expect(text.contains("form-data; name=\"\(quoted)\"\r\n"))
    #expect(text.contains("form-data; name=\"\(quoted)\"; filename=\"\(quoted)\"\r\n"))
  }

  @Test func `keeps the bytes of a name that is not UTF-8`() throws {
    var parts = FormParts(file: Self.file)
    parts.file?.name = [0xFF, 0xE9, 0x22]
    let framing = try #require(FormFraming(parts, random: Self.random()))
    #expect(
      framing.prefix.firstRange(of: Array("filename=\"".utf8) + [0xFF, 0xE9] + Array("%22\"".utf8)) != nil)
  }

  @Test(arguments: [
    "a value", "a name", "a content type", "the file's name", "the file's type", "a later value",
  ])
  func `has a boundary that occurs nowhere in its fields`(place: String) throws {
    let taken = "ferry-00000000000000070000000000000007"
    var parts = FormParts(
      before: [Self.field("a", "b", type: "c/d")], file: Self.file, after: [Self.field("e", "f")])
    let text = Array("--\(taken)".utf8)
    switch place {
    case "a value": parts.before[0].value = text
    case "a name": parts.before[0].name = text
    case "a content type": parts.before[0].contentType = text
    case "the file's name": parts.file?.name = text
    case "the file's type": parts.file?.contentType = text
    default: parts.after[0].value = text
    }
    let framing = try #require(FormFraming(parts, random: Self.random(7, 7, 8, 8)))
    #expect(framing.boundary == "ferry-00000000000000080000000000000008")
    // If every random number is 7, the only possible boundary occurs in the text.
    #expect(FormFraming(parts, random: { 7 }) == nil)
  }

  @Test func `has a boundary of the characters and length that RFC 2046 allows`() throws {
    for number in [0, 1, UInt64.max] {
      let framing = try #require(FormFraming(FormParts(file: Self.file), random: { number }))
      #expect(framing.boundary.utf8.count == 38)
      #expect(framing.boundary.allSatisfy { $0 == "-" || ($0.isASCII && ($0.isLetter || $0.isNumber)) })
    }
  }
}

import Testing

@testable import FerryTransfer

@Suite("Decoding the body of a response")
struct ContentDecoderTests {
  /// The gzip member without content.
  private static let empty: [UInt8] =
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0] + [UInt8](repeating: 0, count: 8)
  /// A gzip member with the content `ferry` in a stored block.
  private static let ferry: [UInt8] =
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 5, 0, 0xFA, 0xFF] + Array("ferry".utf8)
    + [0x13, 0x1C, 0x0D, 0xBF, 5, 0, 0, 0]

  @Test func joinsTheMembersOfABody() throws {
    let body = Self.ferry + Self.empty + Self.ferry
    #expect(try ContentDecoder.decode(body, ["gzip"], limit: 10) == Array("ferryferry".utf8))
    #expect(throws: ContentDecoder.Failure.tooLarge) {
      try ContentDecoder.decode(body, ["gzip"], limit: 9)
    }
  }

  @Test(arguments: [[0x1F], [0], Array(empty.dropLast())])
  func rejectsBytesAfterTheLastMember(rest: [UInt8]) {
    #expect(throws: ContentDecoder.Failure.malformed(coding: "gzip")) {
      try ContentDecoder.decode(Self.ferry + rest, ["gzip"], limit: 100)
    }
  }

  /// The outer coding of two compresses a megabyte of empty members to a few kilobytes.
  @Test func takesLinearTimeForManyMembers() throws {
    let count = 500_000
    let body = Array(repeatElement(Self.empty, count: count).joined())
    var decoded: [UInt8] = []
    let time = try ThreadTime.measure {
      decoded = try ContentDecoder.decode(body + Self.ferry, ["gzip"], limit: 5)
    }
    #expect(decoded == Array("ferry".utf8))
    #expect(time < .seconds(30), "\(time)")
  }
}

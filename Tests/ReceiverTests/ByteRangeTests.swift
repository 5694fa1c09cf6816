import Testing

@testable import Receiver

@Suite struct ByteRangeTests {
  @Test(arguments: [
    (nil, ByteRange.whole),
    ("bytes=0-", .part(0..<10)),
    ("bytes=0-0", .part(0..<1)),
    ("bytes=4-6", .part(4..<7)),
    ("bytes=4-99", .part(4..<10)),
    ("bytes=4-\(Int.max)", .part(4..<10)),
    ("bytes=-3", .part(7..<10)),
    ("bytes=-99", .part(0..<10)),
    ("bytes=10-", .unsatisfiable),
    ("bytes=-0", .unsatisfiable),
    ("bytes=6-4", .whole),
    ("bytes=-", .whole),
    ("bytes=a-b", .whole),
    ("bytes=0-1,4-5", .whole),
    ("lines=0-1", .whole),
    ("bytes=99999999999999999999-", .whole),
  ])
  func `a range of ten bytes is read`(field: String?, range: ByteRange) {
    #expect(ByteRange(field, size: 10) == range)
  }

  @Test func `an empty file has no ranges`() {
    #expect(ByteRange("bytes=0-", size: 0) == .unsatisfiable)
    #expect(ByteRange("bytes=-1", size: 0) == .unsatisfiable)
  }
}

import FerryPlan
import Testing

@testable import FerryTransfer

@Suite struct `The written ranges of a file` {
  @Test func `are joined if they touch or overlap`() {
    var ranges = WrittenRanges()
    for range in [10..<20, 30..<40, 0..<5, 20..<30, 50..<60, 4..<12] as [Range<Int64>] {
      ranges.insert(range)
    }
    #expect(ranges.ranges == [0..<40, 50..<60])
    #expect(ranges.count == 50 && ranges.beginning == 40 && ranges.hasGap)
    #expect(ranges.missing(of: 70) == [40..<50, 60..<70])
    ranges.insert(0..<70)
    #expect(ranges.missing(of: 70) == [] && !ranges.hasGap)
  }

  @Test func `equal those of a set of bytes after any insertions`() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      var (ranges, bytes) = (WrittenRanges(), Set<Int64>())
      for _ in 0..<20 {
        let start = Int64.random(in: 0..<60, using: &random)
        let range = start..<(start + .random(in: 0...8, using: &random))
        ranges.insert(range)
        bytes.formUnion(range)
      }
      #expect(Set(ranges.ranges.flatMap { Array($0) }) == bytes, "seed \(seed)")
      #expect(ranges.count == Int64(bytes.count))
      #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      #expect(Set(ranges.missing(of: 70).flatMap { Array($0) }) == Set(0..<70).subtracting(bytes))
      #expect(WrittenRanges(ranges.text, of: 70) == ranges)
    }
  }

  @Test func `fit into a record`() {
    var ranges = WrittenRanges()
    let start: Int64 = 1_000_000_000_000
    for index in 0..<Int64(500) { ranges.insert((start + index * 10)..<(start + index * 10 + 5)) }
    let some = ranges.recordable
    #expect(some.text.utf8.count <= WrittenRanges.textLimit && some.ranges.count > 50)
    #expect(some.ranges == Array(ranges.ranges.prefix(some.ranges.count)))
    #expect(some.recordable == some)
    let record = PartRecord(
      source: String(repeating: "0", count: 32), validator: "\"\(String(repeating: "v", count: 1022))\"",
      modified: "Tue, 15 Nov 1994 12:45:26 GMT", size: start * 2, written: some,
      boot: String(repeating: "b", count: 36))
    #expect(record.bytes.count == PartRecord.length)
    #expect(PartRecord(record.bytes) == record)
  }

  @Test(arguments: ["-1", "71", "0-5,5-6", "0-5,3-6", "5-5", "6-5", "0-71", "-5-6", "0-5,", ",", "a", ""])
  func `are not read from an invalid text`(_ text: String) {
    #expect(WrittenRanges(text, of: 70) == nil)
  }
}

import FerryPlan
import Testing

/// Numbers as text in a buffer.
struct DigitsTests {
  private func text(_ write: (inout ByteBuffer) -> Void) -> String {
    var buffer = ByteBuffer(capacity: 1)
    write(&buffer)
    return buffer.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [0, 7, 10, 99, 100, -1, -10, 1_234_567_890, .max, .min] as [Int64])
  func `a number is written as by interpolation`(_ number: Int64) {
    #expect(text { $0.append(decimal: number) } == "\(number)")
    var bytes: [UInt8] = []
    bytes.append(decimal: number)
    #expect(String(decoding: bytes, as: UTF8.self) == "\(number)")
  }

  @Test func `a duration is rounded, and has no zeros at its end`() {
    func seconds(_ duration: Duration, _ decimals: Int = 3, minimum: Int = 0) -> String {
      text { $0.append(seconds: duration, decimals: decimals, minimum: minimum) }
    }
    #expect(seconds(.zero) == "0")
    #expect(seconds(.zero, minimum: 1) == "0.0")
    #expect(seconds(.seconds(12)) == "12")
    #expect(seconds(.seconds(12), minimum: 1) == "12.0")
    #expect(seconds(.milliseconds(1_040)) == "1.04")
    #expect(seconds(.microseconds(40_499)) == "0.04")
    #expect(seconds(.microseconds(40_500)) == "0.041")
    #expect(seconds(.microseconds(999_500)) == "1")
    #expect(seconds(.nanoseconds(1_500), 6) == "0.000002")
    #expect(seconds(.nanoseconds(1_500), 9) == "0.0000015")
    #expect(seconds(.milliseconds(1_500), 0) == "2")
    #expect(seconds(.seconds(-5)) == "0")
    #expect(seconds(.seconds(Int64.max)) == "9223372036.854")
  }

  @Test func `a time is written as RFC 3339`() {
    for time in [0, 1_764_111_375_672_999_999, -1, .max, .min] as [Int64] {
      let instant = Instant(nanoseconds: time)
      var bytes: [UInt8] = []
      bytes.append(instant)
      #expect(String(decoding: bytes, as: UTF8.self) == instant.rfc3339)
    }
  }
}

import FerryPlan
import Testing

/// Times as text, for lines that are written one after another.
struct TimeTextTests {
  @Test func `the text is that of each time, in any order`() {
    let second: Int64 = 1_000_000_000
    var text = TimeText(Instant(nanoseconds: 0))
    for nanoseconds in [
      0, 1_000_000, 999_999_999, second, 1_770_000_000 * second + 7_000_000,
      1_770_000_000 * second + 250_999_999, 1_770_000_000 * second, -1, -second, -second - 1_000_000,
      1_770_000_001 * second - 1, Int64.max, Int64.min,
    ] {
      let time = Instant(nanoseconds: nanoseconds)
      text.set(time)
      #expect(String(decoding: text.bytes, as: UTF8.self) == time.rfc3339)
    }
  }
}

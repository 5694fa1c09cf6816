import FerryDigest
import Testing

struct Base64Tests {
  @Test func base64IsReadBack() {
    for count in 0..<20 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ 200) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
    for text in ["A", "AA", "AAA", "====", "AB==", "A A=", "é==="] { #expect(Base64.decode(text) == nil) }
  }
}

import FerryPlan
import Testing

/// Strings that lines of text and of JSON contain unchanged.
struct PlainTextTests {
  private func isPlain(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer { PlainText.isPlain($0) } }

  /// The definition, byte by byte.
  private func isPlain(_ byte: UInt8) -> Bool {
    0x20...0x7E ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  @Test func `each byte is recognized at each position of a name of any length`() {
    // The neighbors of the excluded bytes, so that a carry or borrow from the byte would change the result.
    for other in [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E] as [UInt8] {
      for length in 1...17 {
        for position in 0..<length {
          var name = [UInt8](repeating: other, count: length)
          for byte in UInt8.min...UInt8.max {
            name[position] = byte
            if isPlain(name) != isPlain(byte) {
              Issue.record("byte \(byte) at \(position) of \(length) bytes \(other)")
            }
          }
        }
      }
    }
  }

  @Test func `an empty name is plain`() { #expect(isPlain([] as [UInt8])) }
}

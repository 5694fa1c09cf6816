extension Int64 {
  /// A number that consists only of ASCII digits; `nil` for any other text, and for a number that exceeds 63 bits.
  init?(digits text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.count <= 19, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.init(String(text))
  }
}

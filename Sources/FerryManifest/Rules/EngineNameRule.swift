/// The rules for text that becomes part of the files of an engine.
enum EngineNameRule {
  /// The problem with a string that must consist of ASCII letters, digits and some other bytes; `nil` if it is valid.
  static func problem(_ text: String, allowing others: Set<UInt8>, help: String) -> Problem? {
    guard let wrong = text.first(where: { !$0.utf8.allSatisfy { isAlphanumeric($0) || others.contains($0) } })
    else { return nil }
    let what = wrong == " " ? "a space" : String(wrong).quoted
    return Problem(.invalidName, "this name cannot contain \(what)", help: help, showsValue: true)
  }

  /// The problem with the name of an object of Kubernetes (RFC 1123); `nil` if it is valid.
  static func kubernetesProblem(_ name: String) -> Problem? {
    let isName =
      name.utf8.count <= 253
      && name.split(separator: ".", omittingEmptySubsequences: false)
        .allSatisfy { label in
          !label.isEmpty && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { isLowercase($0) || isDigit($0) || $0 == 0x2D }
        }
    guard !isName else { return nil }
    return Problem(
      .invalidName, "this is not a name that Kubernetes accepts",
      help:
        "use only lowercase letters, digits, '-' and '.', with a letter or digit at the beginning and at the end",
      showsValue: true)
  }

  /// The problem with a number of CPUs in Kubernetes' notation; `nil` if it is valid.
  static func cpuProblem(_ text: String) -> Problem? {
    let isThousandths = text.last == "m"
    let parts = (isThousandths ? text.dropLast() : text[...])
      .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let isNumber =
      parts.allSatisfy { (1...9).contains($0.utf8.count) && $0.utf8.allSatisfy(isDigit) }
      && (parts.count == 1 || (!isThousandths && (parts.last?.utf8.count ?? 0) <= 3))
      && parts.contains { $0.contains { $0 != "0" } }
    guard !isNumber else { return nil }
    return Problem(
      .invalidName, "this is not a number of CPUs",
      help: "write a number such as 2 or 0.5, or thousandths such as 500m",
      showsValue: true)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isLowercase(byte) || isDigit(byte) || (0x41...0x5A).contains(byte)
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

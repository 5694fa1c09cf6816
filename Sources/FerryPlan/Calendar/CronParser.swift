/// Parses the text of a cron expression.
struct CronParser {
  private let characters: [Character]

  init(_ text: String) { characters = Array(text) }

  /// The nicknames of crontab(5), in its order, each with its meaning.
  static let nicknames: [(name: String, meaning: String)] = [
    ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"), ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), ("@hourly", "0 * * * *"),
  ]

  /// The fields in the order of `CronField.Kind`.
  func fields() throws(CronError) -> [CronField] {
    let words = characters.split { $0 == " " || $0 == "\t" }
    let kinds = CronField.Kind.allCases
    guard let first = words.first else {
      throw CronError(column: 1, message: "the expression is empty", help: Self.shape)
    }
    if first.first == "@" { return try nickname(first, rest: words.dropFirst()) }
    guard words.count >= kinds.count else {
      throw CronError(
        column: (words.last?.endIndex ?? 0) + 1,
        message: "the \(kinds[words.count].name) is missing: found \(words.count) of 5 fields",
        help: Self.shape)
    }
    guard words.count == kinds.count else {
      throw CronError(
        column: words[kinds.count].startIndex + 1, message: "there are \(words.count) fields instead of 5",
        help: Self.shape)
    }
    var fields: [CronField] = []
    for (kind, word) in zip(kinds, words) { fields.append(try field(word, kind)) }
    return fields
  }

  private static let shape =
    "five fields, separated by spaces: minute, hour, day of the month, month, day of the week"

  private func nickname(
    _ word: ArraySlice<Character>, rest: ArraySlice<ArraySlice<Character>>
  ) throws(CronError) -> [CronField] {
    guard let known = Self.nicknames.first(where: { $0.name == String(word) }) else {
      let reason =
        String(word) == "@reboot" ? "`@reboot` does not define a time" : "`\(String(word))` is not supported"
      throw CronError(
        column: word.startIndex + 1, message: reason,
        help: "write one of \(Self.nicknames.map(\.name).joined(separator: ", ")), or \(Self.shape)")
    }
    if let more = rest.first {
      throw CronError(
        column: more.startIndex + 1, message: "`\(known.name)` must not be followed by other fields",
        help: "`\(known.name)` is `\(known.meaning)`")
    }
    return try CronParser(known.meaning).fields()
  }

  private func field(_ word: ArraySlice<Character>, _ kind: CronField.Kind) throws(CronError) -> CronField {
    var field = CronField()
    field.isWildcard = word.first == "*"
    for item in word.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      let base = parts[0]
      let range = try range(base, kind, hasStep: parts.count > 1)
      let step = parts.count > 1 ? try step(parts[1], kind) : 1
      // As in Vixie cron, a step larger than the range matches only the range's first number.
      for number in range where (number - range.lowerBound) % step == 0 {
        // Sunday is stored as 0.
        field.insert(kind == .dayOfWeek && number == 7 ? 0 : number)
      }
    }
    return field
  }

  private func range(
    _ base: ArraySlice<Character>, _ kind: CronField.Kind, hasStep: Bool
  ) throws(CronError) -> ClosedRange<Int> {
    if base.count == 1, base.first == "*" { return kind.numbers }
    let ends = base.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let low = try number(ends[0], kind)
    guard ends.count > 1 else {
      guard !hasStep else {
        throw CronError(
          column: base.startIndex + 1,
          message: "a step must follow a range or `*`, not the single value `\(String(base))`",
          help: "write `\(low)-\(kind.numbers.upperBound)/…`, or omit the step")
      }
      return low...low
    }
    let high = try number(ends[1], kind)
    guard low <= high else {
      let sunday = kind == .dayOfWeek && high == 0
      throw CronError(
        column: base.startIndex + 1, message: "the range `\(String(base))` is reversed",
        help: sunday
          ? "Sunday is 7 at the end of a range: write `\(low)-7`"
          : "write two ranges: `\(low)-\(kind.numbers.upperBound),\(kind.numbers.lowerBound)-\(high)`")
    }
    return low...high
  }

  private func number(_ text: ArraySlice<Character>, _ kind: CronField.Kind) throws(CronError) -> Int {
    guard !text.isEmpty else {
      throw CronError(column: text.startIndex + 1, message: "a \(kind.name) is missing", help: kind.forms)
    }
    if let number = Self.digits(text) {
      if kind.numbers.contains(number) { return number }
    } else if let place = kind.words.firstIndex(of: String(text).lowercased()) {
      return place + kind.numbers.lowerBound
    }
    throw CronError(
      column: text.startIndex + 1, message: "`\(String(text))` is not a valid \(kind.name)", help: kind.forms)
  }

  private func step(_ text: ArraySlice<Character>, _ kind: CronField.Kind) throws(CronError) -> Int {
    if let step = Self.digits(text), step > 0 { return step }
    throw CronError(
      column: text.startIndex + 1,
      message: text.isEmpty ? "the step after `/` is missing" : "`\(String(text))` is not a valid step",
      help: "a step is a positive whole number, as in `*/\(kind == .minute ? 15 : 2)`")
  }

  /// Returns `nil` if the text is not a whole number, or if the number does not fit in `Int`.
  private static func digits(_ text: ArraySlice<Character>) -> Int? {
    guard text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(String(text))
  }
}

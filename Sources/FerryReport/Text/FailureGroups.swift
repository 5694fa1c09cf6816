import FerryPlan

/// Items that did not end as done, grouped by cause for display.
///
/// Two items have the same cause if they belong to the same node and have the same state, and if their reasons differ
/// only in the item's name and in words that look like identifiers (at least eight letters, digits, hyphens and
/// underscores, with a digit among them), such as the request IDs that many servers put into their responses. The
/// reasons of `ferry cancel --reason` are compared unchanged.
struct FailureGroups {
  struct Group {
    /// The first item of the group, in the order of paths.
    var example: RunRecord.ItemRecord
    var count = 1
  }

  /// The number of items that belong to no group because there are too many causes.
  private(set) var ungrouped = 0

  /// The maximum number of groups that are formed.
  static let limit = 1000

  private struct Cause: Hashable {
    var title: String
    var state: ReportState
    var step: Step.Kind?
    var code: FailureCode?
    var status: Int?
    var text: String
  }

  private var groups: [Cause: Group] = [:]

  mutating func add(_ item: RunRecord.ItemRecord) {
    let cause = Self.cause(of: item)
    if var group = groups[cause] {
      group.count += 1
      if Self.precedes(item, group.example) { group.example = item }
      groups[cause] = group
    } else if groups.count < Self.limit {
      groups[cause] = Group(example: item)
    } else {
      ungrouped += 1
    }
  }

  /// The groups in a fixed order: by state, then by descending size, then by the names of their examples.
  var all: [Group] {
    groups.values.sorted { a, b in
      let (first, second) = (Self.rank(a.example.state), Self.rank(b.example.state))
      if first != second { return first < second }
      if a.count != b.count { return a.count > b.count }
      return Self.precedes(a.example, b.example)
    }
  }

  /// The position of a state in the order of groups; failures come first.
  private static func rank(_ state: ReportState) -> Int {
    switch state {
    case .failed: 0
    case .cancelled: 1
    case .succeeded, .ambiguous, .skipped, .waiting, .notSelected, .notNeeded, .done, .queued, .allocated,
      .transferred, .new, .run, .ask, .notDue, .never, .stored:
      2
    }
  }

  private static func precedes(_ a: RunRecord.ItemRecord, _ b: RunRecord.ItemRecord) -> Bool {
    for (a, b) in [(a.manifest ?? "", b.manifest ?? ""), (a.node, b.node), (a.path, b.path)] where a != b {
      return a.utf8.lexicographicallyPrecedes(b.utf8)
    }
    return (a.pathBase64 ?? "").utf8.lexicographicallyPrecedes((b.pathBase64 ?? "").utf8)
  }

  private static func cause(of item: RunRecord.ItemRecord) -> Cause {
    let detail = item.reason?.detail
    if let reason = item.reason, reason.isCancellation {
      return Cause(
        title: "\(item.manifest ?? "")/\(item.node)", state: item.state, step: item.attempts.last?.step,
        code: reason.code, status: reason.status, text: reason.message)
    }
    let texts = [item.reason?.message, detail?.reasonPhrase, detail?.body, detail?.proxy].map { $0 ?? "" }
    return Cause(
      title: "\(item.manifest ?? "")/\(item.node)", state: item.state, step: item.attempts.last?.step,
      code: item.reason?.code, status: item.reason?.status,
      text: texts.map { general($0, of: item) }.joined(separator: "\n"))
  }

  /// The text without the item's name and without identifiers.
  private static func general(_ text: String, of item: RunRecord.ItemRecord) -> String {
    let shown = DisplayPath.shown(item.path, base64: item.pathBase64)
    var bytes = Array(text.utf8)
    for name in [shown, item.path, item.path.split(separator: "/").last.map(String.init) ?? ""] {
      bytes = replacing(Array(name.utf8), in: bytes)
    }
    return String(decoding: withoutIdentifiers(bytes), as: UTF8.self)
  }

  private static let mark = UInt8(ascii: "*")

  private static func replacing(_ name: [UInt8], in text: [UInt8]) -> [UInt8] {
    guard !name.isEmpty, name.count <= text.count else { return text }
    var output: [UInt8] = []
    var rest = text[...]
    while let first = rest.first {
      // Skip a name inside a longer word, such as the `a` in `had`.
      if first == name[0], rest.starts(with: name), !(output.last.map(isWord) ?? false),
        !(rest.dropFirst(name.count).first.map(isWord) ?? false)
      {
        output.append(mark)
        rest = rest.dropFirst(name.count)
      } else {
        output.append(first)
        rest = rest.dropFirst()
      }
    }
    return output
  }

  private static func withoutIdentifiers(_ text: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = text[...]
    while !rest.isEmpty {
      let word = rest.prefix(while: isWord)
      let isIdentifier = word.count >= 8 && word.contains { (0x30...0x39).contains($0) }
      if isIdentifier { output.append(mark) } else { output += word }
      rest = rest.dropFirst(word.count)
      if let byte = rest.popFirst() { output.append(byte) }
    }
    return output
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: byte >= 0x80
    }
  }
}

extension FailureGroups.Group {
  /// One line: the cause, with the name of the only item, or with the number of items and the first of them.
  ///
  /// - Parameter title: the node's name as it is shown.
  func line(title: String) -> String {
    let name = DisplayPath.shown(example.path, base64: example.pathBase64)
    guard count > 1 else {
      let cause = example.reason.map { ReasonText.cause($0, of: name) } ?? ""
      return "\(title): \(name): \(words.one)\(cause)"
    }
    let cause = example.reason.map { ReasonText.cause($0, of: name, isFirst: true) } ?? "(first: \(name))"
    return "\(title): \(NumberText.text(count)) \(words.many)\(cause)"
  }

  private var words: (one: String, many: String) {
    switch example.state {
    // The cause of a cancellation says what happened.
    case .failed, .cancelled: ("", "× ")
    case .waiting: ("remains: ", "remaining: ")
    case .succeeded, .ambiguous, .skipped, .notSelected, .notNeeded, .done, .queued, .allocated, .transferred,
      .new, .run, .ask, .notDue, .never, .stored:
      ("\(example.state): ", "\(example.state): ")
    }
  }
}

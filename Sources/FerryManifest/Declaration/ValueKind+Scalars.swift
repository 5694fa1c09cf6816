extension ValueKind where Value == Bool {
  static var boolean: Self {
    Self(.boolean, text: { "\($0)" }) { node, decoder in
      let words = ["yes": true, "on": true, "y": true, "no": false, "off": false, "n": false]
      let meant = node.scalar.flatMap { words[$0.text.lowercased()] }
      let wanted = "true or false"
      guard let value = decoder.settled(node, wanted: wanted) else { return nil }
      if case .bool(let value) = value { return value }
      decoder.mismatch(
        node, wanted: wanted,
        help: meant.map { "write \($0); in YAML 1.2 'yes', 'no', 'on' and 'off' are strings" })
      return nil
    }
  }

  /// A boolean whose only valid value is `true`, as in `status: true`.
  static var onlyTrue: Self {
    boolean.refused {
      $0
        ? nil
        : Problem(
          .onlyTrue, "this key can only be true",
          help: "write 'true', or remove the key")
    }
  }
}

extension ValueKind where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> Self {
    Self(.integer(range), text: { "\($0)" }) { node, decoder in
      let wanted = "a " + ValueForm.integer(range).summary
      guard let settled = decoder.settled(node, wanted: wanted) else { return nil }
      guard case .integer(let wide) = settled, let value = Int(exactly: wide), range.contains(value) else {
        decoder.mismatch(node, wanted: wanted)
        return nil
      }
      return value
    }
  }

  /// An HTTP status code (RFC 9110 §15).
  static var status: Self { integer(100...599) }
}

extension YAMLScalar.Value {
  /// The value as a number; `nil` if it is not a number.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .float(let value): value
    case .null, .bool, .hugeInteger, .string: nil
    }
  }
}

extension ValueKind where Value == Double {
  static func number(_ range: ClosedRange<Double>) -> Self {
    Self(.number(range), text: { ValueForm.text($0) }) { node, decoder in
      let wanted = "a " + ValueForm.number(range).summary
      guard let settled = decoder.settled(node, wanted: wanted) else { return nil }
      guard let value = settled.number, value.isFinite, range.contains(value) else {
        decoder.mismatch(node, wanted: wanted)
        return nil
      }
      return value
    }
  }
}

extension ValueKind where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of an enum's words. References are not allowed, because the word determines how other values are
  /// read.
  static func word() -> Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(.choice(words), text: \.rawValue) { node, decoder in
      let wanted = words.alternatives(quoted: false)
      guard let text = node.scalar?.text, !node.isNull else {
        decoder.mismatch(node, wanted: wanted)
        return nil
      }
      return decoder.word(text, of: words, in: node).flatMap(Value.init)
    }
  }

  /// One of an enum's words.
  static func choice() -> Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(.choice(words), text: \.rawValue) { node, decoder in
      let wanted = words.alternatives(quoted: false)
      guard let text = decoder.constant(node, wanted: wanted) else { return nil }
      return decoder.word(text, of: words, in: node).flatMap(Value.init)
    }
  }
}

extension ManifestDecoder {
  /// Returns the string if it is one of the given words; otherwise reports a mistake and returns nil.
  fileprivate mutating func word(_ text: String, of words: [String], in node: YAMLNode) -> String? {
    if words.contains(text) { return text }
    let wanted = words.alternatives(quoted: false)
    report(
      .unknownWord, at: node.location, "\(owner.value.quoted) must be \(wanted)\(node.foundWord)",
      help: suggestion(for: text, among: words) ?? exampleHelp ?? "write \(wanted)")
    return nil
  }
}

extension ValueKind where Value == String {
  /// A non-empty string without control characters that is known before a run.
  static func constant(_ what: String) -> Self {
    Self(
      .text(what: what, references: false), text: { WrittenScalar.string($0, in: .flow) }
    ) { node, decoder in
      guard let text = decoder.constant(node, wanted: "a \(what)") else { return nil }
      guard !text.isEmpty else {
        decoder.report(
          .emptyText, at: node.location, "\(decoder.owner.value.quoted) is empty", help: "specify a \(what)")
        return nil
      }
      guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
        decoder.report(
          .controlCharacter, at: node.location, "\(decoder.owner.value.quoted) contains a control character",
          help: "remove it")
        return nil
      }
      return text
    }
  }

  /// A word that can be used as a file name.
  static var fileName: Self {
    constant("name").refused { name in
      NameRule.problem(name, allowsDots: true)
    }
  }

  static var path: Self { constant("path") }

  /// A file below the manifest's folder.
  static var pathInside: Self {
    path.refused { path in
      PathRule.problem(path, inside: "the manifest's folder")
        ?? (PathLetters(path).isFolder
          ? Problem(.invalidPath, "this path refers to a folder", help: "specify a file") : nil)
    }
  }

  /// A folder below `root`.
  static var folderInside: Self {
    path.refused { path in
      PathRule.problem(path, inside: "'root'")
        ?? (PathLetters(path).parts.allSatisfy { $0 == "." }
          ? Problem(.invalidPath, "this is 'root' itself", help: "specify a folder below it, such as sent/")
          : nil)
    }
  }

  /// A name in the IANA time zone database; only its syntax is checked.
  static var timeZone: Self {
    constant("time zone").refused { name in
      guard !TimeZoneNameRule.isValid(name) else { return nil }
      return Problem(
        .unknownWord, "\(name.quoted) is not the name of a time zone",
        help: "write a name such as Europe/Berlin or UTC (the IANA time zone database)", showsValue: true)
    }
  }

  /// A pattern of paths relative to `root`.
  static var glob: Self {
    constant("glob").refused { glob in
      if PathLetters(glob).isAbsolute {
        return Problem(.invalidGlob, "a glob must be relative to 'root'", help: "remove the leading '/'")
      }
      if PathLetters(glob).parts.contains("..") {
        return Problem(
          .invalidGlob, "a glob cannot leave 'root' with '..'", help: "choose another 'root'")
      }
      return GlobRule.unclosed(glob).map {
        Problem(
          .invalidGlob, "'\($0)' is not closed in this glob",
          help: "close it, or write '[\($0)]' for a literal '\($0)'")
      }
    }
  }

  /// A JSON pointer (RFC 6901).
  static var jsonPointer: Self {
    Self(.text(what: "JSON pointer", references: false)) { node, decoder in
      guard let text = decoder.constant(node, wanted: "a JSON pointer") else { return nil }
      guard let problem = PointerRule.problem(text) else { return text }
      decoder.reportOfValue(problem, at: node.location)
      return nil
    }
  }

  /// The names of nested XML elements, from the root.
  static var elementPath: Self {
    constant("element path").refused(ElementPathRule.problem)
  }

  /// A regular expression. A capture requires a group.
  static func regex(needsGroup: Bool) -> Self {
    Self(.text(what: "regular expression", references: false)) { node, decoder in
      guard let pattern = decoder.constant(node, wanted: "a regular expression") else { return nil }
      guard let problem = PatternRule.problem(pattern, needsGroup: needsGroup) else { return pattern }
      decoder.reportOfValue(problem, at: node.location)
      return nil
    }
  }
}

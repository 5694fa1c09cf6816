/// What may stand at a key, as a value: reference pages and schemas are made from it.
package indirect enum ValueForm: Sendable {
  /// Any text; `what` says what it is in the words of the reference page.
  case text(what: String, references: Bool)
  case boolean
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  case duration
  case size
  /// One of some words; `notYet` are known and refused.
  case choice([String], notYet: [String])
  /// Any YAML that has a meaning in JSON.
  case json
  case list(ValueForm)
  /// Names or other keys of the author's choice, and a value for each.
  case map(key: String, value: ValueForm)
  case object(ObjectForm)
  case either([ValueForm])
}

/// What a mapping with declared keys may hold.
package struct ObjectForm: Sendable {
  package var title: String
  package var doc: String
  package var keys: [KeyForm]
  package var rules: [KeyRule]
}

/// One key of a mapping, told for people.
package struct KeyForm: Sendable {
  package enum Presence: Sendable {
    case required
    /// The value that stands for it where it is absent, as the manifest would write it, or a word for it.
    case optional(default: String?)
    /// Part of the language, and not built: refused by name.
    case notYet
  }

  package var name: String
  package var form: ValueForm
  package var presence: Presence
  package var doc: String
  package var example: String?
}

/// What holds between the keys of one mapping.
package enum KeyRule: Sendable {
  /// At most one of them; of each group any number.
  case atMostOne([String])
  case exactlyOne([String])
  /// The first only beside the second.
  case requires(String, String)
}

extension ValueForm {
  /// A few words for a table: "duration", "list of texts".
  package var summary: String {
    switch self {
    case .text(let what, _): what
    case .boolean: "true or false"
    case .integer(let range):
      range.upperBound == .max
        ? "integer, at least \(range.lowerBound)" : "integer, \(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      range.upperBound == .infinity
        ? "number, at least \(range.lowerBound)" : "number, \(range.lowerBound) to \(range.upperBound)"
    case .duration: "duration"
    case .size: "size"
    case .choice(let words, _): words.map { "`\($0)`" }.alternatives(quoted: false)
    case .json: "any YAML"
    case .list(let element): "list of: \(element.summary)"
    case .map(let key, let value): "mapping of \(key) to: \(value.summary)"
    case .object(let object): "[\(object.title)](#\(object.anchor))"
    case .either(let forms): forms.map(\.summary).joined(separator: ", or ")
    }
  }

  /// The objects that it mentions, in order.
  package var objects: [ObjectForm] {
    switch self {
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json: []
    case .list(let element): element.objects
    case .map(_, let value): value.objects
    case .object(let object): [object]
    case .either(let forms): forms.flatMap(\.objects)
    }
  }
}

extension ObjectForm {
  package var anchor: String {
    String(title.lowercased().map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" })
  }
}

/// The values that a key accepts. The reference page and the schema are generated from these forms.
package indirect enum ValueForm: Sendable {
  /// Any string; `what` describes it on the reference page.
  case text(what: String, references: Bool)
  case boolean
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  case duration
  case size
  /// One of several words.
  case choice([String])
  /// Any YAML that can be expressed in JSON.
  case json
  case list(ValueForm)
  /// A mapping whose keys are chosen by the author.
  case map(key: String, value: ValueForm)
  case object(ObjectForm)
  case either([ValueForm])
}

extension ValueForm {
  /// A short description for a table: "duration", "list of strings".
  package var summary: String {
    switch self {
    case .text(let what, _): what
    case .boolean: "true or false"
    case .integer(let range):
      range.lowerBound == range.upperBound
        ? "the number \(range.lowerBound)"
        : range.upperBound == .max
          ? "whole number, at least \(range.lowerBound)"
          : "whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
    case .duration: "duration"
    case .size: "size"
    case .choice(let words): words.map { "`\($0)`" }.alternatives(quoted: false)
    case .json: "any YAML"
    case .list(.text(let what, _)): "list of \(what)\(what.hasSuffix("s") ? "es" : "s")"
    case .list(.integer(let range)): "list of whole numbers from \(range.lowerBound) to \(range.upperBound)"
    case .list(let element): "list of: \(element.summary)"
    case .map(let key, .either(let values)) where values.contains(where: \.isMap):
      values.map { "mapping from \(key) to \($0.summary)" }.joined(separator: ", or ")
    case .map(let key, let value): "mapping from \(key) to \(value.summary)"
    case .object(let object): "[\(object.title)](#\(object.anchor))"
    case .either(let forms): forms.map(\.summary).joined(separator: ", or ")
    }
  }

  private var isMap: Bool {
    if case .map = self { true } else { false }
  }

  /// A minimal value of this form, as it would be written in the manifest.
  var sample: String {
    switch self {
    case .object(let object):
      let members = object.keys.filter(\.isRequired).map { "\($0.name): \($0.example ?? $0.form.sample)" }
      return members.isEmpty ? "{}" : "{ \(members.joined(separator: ", ")) }"
    case .list: return "[]"
    case .map, .json: return "{}"
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .either: return "…"
    }
  }

  /// The number in the manifest's notation: `1` rather than `1.0`.
  static func text(_ number: Double) -> String {
    Int64(exactly: number).map { "\($0)" } ?? "\(number)"
  }

  /// The objects in this form, in order.
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

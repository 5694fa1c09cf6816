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

extension ObjectForm {
  package var anchor: String {
    String(title.lowercased().map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" })
  }
}

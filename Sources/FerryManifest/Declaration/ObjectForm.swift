/// The keys and rules of a mapping with declared keys.
package struct ObjectForm: Sendable {
  package var title: String
  package var doc: String
  package var keys: [KeyForm]
  package var rules: [KeyRule]
}

/// One key of a mapping, for documentation.
package struct KeyForm: Sendable {
  package enum Presence: Sendable {
    case required
    /// The key is optional. Its defaults are in the order of `Profile.allCases`.
    case optional(defaults: [Default])
  }

  /// The default of an absent key.
  package enum Default: Equatable, Sendable {
    /// A value in the manifest's notation.
    case value(String)
    /// A description in words.
    case words(String)
    /// An object, with the defaults of its keys.
    case itsKeys
  }

  package var name: String
  package var form: ValueForm
  package var presence: Presence
  package var doc: String
  package var example: String?

  package var isRequired: Bool {
    switch presence {
    case .required: true
    case .optional: false
    }
  }

  package func fallback(in profile: Profile) -> Default? {
    guard case .optional(let defaults) = presence, let index = Profile.allCases.firstIndex(of: profile)
    else { return nil }
    return defaults[index]
  }
}

/// The rules between the keys of one mapping.
package enum KeyRule: Sendable {
  /// At most one of these keys may be present. A mapping may have several such rules.
  case atMostOne([String])
  case exactlyOne([String])
  /// The first key is valid only together with the second.
  case requires(String, String)
}

extension ObjectForm {
  package var anchor: String {
    String(title.lowercased().map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" })
  }
}

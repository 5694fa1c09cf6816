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
    /// What stands for it where it is absent, in the order of `Profile.allCases`.
    case optional(defaults: [Default])
  }

  /// What stands for an absent key.
  package enum Default: Equatable, Sendable {
    /// A value as the manifest would write it.
    case value(String)
    /// Words about it.
    case words(String)
    /// An object, with the defaults of its own keys.
    case itsKeys
  }

  package var name: String
  package var form: ValueForm
  package var presence: Presence
  /// Whether a run takes it; if not, it takes the default of a server at most.
  package var isBuilt: Bool
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

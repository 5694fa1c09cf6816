/// The declaration of one key: its name, where its value goes, what it may be and what it means.
///
/// This is the one place to edit for a new key. The default that is shown is read from the blank object.
struct Key<Object: Sendable>: Sendable {
  let name: String
  let isRequired: Bool
  /// Reads the value into the object.
  let decode: @Sendable (YAMLNode, inout Object, inout ManifestDecoder) -> Void
  private let form: ValueForm
  let isBuilt: Bool
  private let doc: String
  let example: String?
  private let defaultText: @Sendable (Object) -> String?

  /// - Parameters:
  ///   - doc: one or two sentences for the reference page.
  ///   - isRequired: whether an object without it is an error.
  ///   - default: what stands for it where it is absent, if the blank object's value does not tell.
  ///   - example: a value as the manifest writes it.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default defaultText: String? = nil, doc: String, example: String? = nil
  ) {
    self.name = name
    self.isRequired = isRequired
    self.doc = doc
    self.example = example
    form = kind.form
    isBuilt = true
    decode = { node, object, decoder in
      if let value = kind.decode(node, &decoder) { object[keyPath: path] = value }
    }
    self.defaultText = { defaultText ?? kind.text($0[keyPath: path]) }
  }

  /// A key whose absence is `nil`.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value?> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default defaultText: String? = nil, doc: String, example: String? = nil
  ) {
    self.name = name
    self.isRequired = isRequired
    self.doc = doc
    self.example = example
    form = kind.form
    isBuilt = true
    decode = { node, object, decoder in
      if let value = kind.decode(node, &decoder) { object[keyPath: path] = value }
    }
    self.defaultText = { object in defaultText ?? object[keyPath: path].flatMap(kind.text) }
  }

  private init(notYet name: String, doc: String) {
    self.name = name
    self.doc = doc
    isRequired = false
    example = nil
    form = .json
    isBuilt = false
    decode = { _, _, decoder in
      decoder.report(
        .notBuilt, at: decoder.owner.location, "\(name.quoted) is not built yet",
        help: "remove it; this ferry cannot do it, and does not ignore what it cannot do")
    }
    defaultText = { _ in nil }
  }

  /// A key of the language that nothing stands behind yet: refused by name, never ignored.
  static func notYet(_ name: String, doc: String) -> Self { Self(notYet: name, doc: doc) }

  func form(in blank: Object) -> KeyForm {
    let presence: KeyForm.Presence =
      !isBuilt ? .notYet : isRequired ? .required : .optional(default: defaultText(blank))
    return KeyForm(name: name, form: form, presence: presence, doc: doc, example: example)
  }
}

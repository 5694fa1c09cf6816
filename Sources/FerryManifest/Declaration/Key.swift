/// The declaration of one key: its name, where its value goes, what it may be and what it means.
///
/// This is the one place to edit for a new key: parsing, checking, the schema, the reference page and the effective
/// manifest are made from it. The default that they show is read from the blank object.
struct Key<Object: Sendable>: Sendable {
  let name: String
  let isRequired: Bool
  /// Reads the value into the object; the last is a blank one of a server, for the values that ask for nothing.
  let decode: @Sendable (YAMLNode, inout Object, inout ManifestDecoder, Object) -> Void
  /// The object's value as the manifest would write it, where that can be told in a few words.
  let text: @Sendable (Object) -> String?
  let form: ValueForm
  private let isBuilt: Bool
  private let doc: String
  let example: String?
  private let fallback: @Sendable (Object) -> KeyForm.Default

  /// What stands for an absent key, where the blank object's value does not tell.
  enum Fallback: Sendable, ExpressibleByStringLiteral {
    case blank
    /// A value, the same in every profile.
    case value(String)
    /// In words.
    case words(String)
    /// What its own keys say.
    case itsKeys

    init(stringLiteral words: String) { self = .words(words) }
  }

  /// - Parameters:
  ///   - doc: one or two sentences for the reference page.
  ///   - isRequired: whether an object without it is an error.
  ///   - default: what stands for it where it is absent, if the blank object's value does not tell.
  ///   - isBuilt: whether anything stands behind it. If not, it is read and checked, and a run refuses any value but
  ///     the default of a server.
  ///   - example: a value as the manifest writes it.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default fallback: Fallback = .blank, isBuilt: Bool = true, doc: String,
    example: String? = nil
  ) {
    self.init(
      name, kind, isRequired: isRequired, fallback: fallback, isBuilt: isBuilt, doc: doc,
      example: example,
      get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key whose absence is `nil`.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value?> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default fallback: Fallback = .blank, isBuilt: Bool = true, doc: String,
    example: String? = nil
  ) {
    self.init(
      name, kind, isRequired: isRequired, fallback: fallback, isBuilt: isBuilt, doc: doc,
      example: example,
      get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key that is put to use before its object is read.
  init<Value: Sendable>(_ name: String, readBefore kind: ValueKind<Value>, doc: String, example: String) {
    self.init(
      name, kind, isRequired: false, fallback: "none", isBuilt: true, doc: doc, example: example,
      get: { _ in nil }, set: nil)
  }

  private init<Value: Sendable>(
    _ name: String, _ kind: ValueKind<Value>, isRequired: Bool, fallback: Fallback, isBuilt: Bool,
    doc: String, example: String?, get: @escaping @Sendable (Object) -> Value?,
    set: (@Sendable (inout Object, Value) -> Void)?
  ) {
    self.name = name
    self.isRequired = isRequired
    self.isBuilt = isBuilt
    self.doc = doc
    self.example = example
    form = kind.form
    let text: @Sendable (Object) -> String? = { get($0).flatMap(kind.text) }
    self.text = text
    decode = { node, object, decoder, serverBlank in
      // In `defaults` nothing but this reads it.
      guard set != nil || decoder.isPartial, let value = kind.decode(node, &decoder), let set else { return }
      set(&object, value)
      guard !isBuilt else { return }
      let given = kind.text(value)
      guard given == nil || given != text(serverBlank) else { return }
      if node.scalar != nil, let given {
        decoder.reportNotBuilt("'\(name): \(given)'", at: node.location)
      } else {
        decoder.reportNotBuilt("'\(name)'", at: decoder.owner.location)
      }
    }
    self.fallback = { blank in
      switch fallback {
      case .value(let value): .value(value)
      case .words(let words): .words(words)
      case .itsKeys: .itsKeys
      case .blank: text(blank).map(KeyForm.Default.value) ?? .words("none")
      }
    }
  }

  /// - Parameter blanks: a blank object of each profile.
  func form(in blanks: [Object]) -> KeyForm {
    KeyForm(
      name: name, form: form, presence: isRequired ? .required : .optional(defaults: blanks.map(fallback)),
      isBuilt: isBuilt, doc: doc, example: example)
  }
}

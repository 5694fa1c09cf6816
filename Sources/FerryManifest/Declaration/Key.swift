/// The declaration of one key: its name, the property that stores its value, the accepted values and their
/// meaning.
///
/// To add a key, add only its declaration. Parsing, checking, the schema, the reference page and the
/// effective manifest are derived from the declaration, and read the default from the blank object.
struct Key<Object: Sendable>: Sendable {
  let name: String
  let isRequired: Bool
  /// Reads the value into the object.
  let decode: @Sendable (YAMLNode, inout Object, inout ManifestDecoder) -> Void
  /// The object's value in the manifest's notation, if it is short.
  let text: @Sendable (Object) -> String?
  let form: ValueForm
  private let doc: String
  let example: String?
  /// The remedy for a missing key; nil to suggest the key as in its example.
  let remedy: @Sendable (ManifestDecoder) -> String?
  private let fallback: @Sendable (Object) -> KeyForm.Default

  /// The default of an absent key, if the blank object's value does not determine it.
  enum Fallback: Sendable, ExpressibleByStringLiteral {
    case blank
    /// A value, which is the same in every profile.
    case value(String)
    /// A description in words.
    case words(String)
    /// The defaults of the keys inside the value.
    case itsKeys

    init(stringLiteral words: String) { self = .words(words) }
  }

  /// - Parameters:
  ///   - doc: one or two sentences for the reference page.
  ///   - isRequired: whether an object without the key is an error.
  ///   - default: the default if the key is absent and the blank object's value does not determine the
  ///     default.
  ///   - example: a value as it is written in the manifest.
  ///   - remedy: the remedy if the key is missing; nil to suggest the key as in the example.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default fallback: Fallback = .blank, doc: String,
    example: String? = nil, remedy: @escaping @Sendable (ManifestDecoder) -> String? = { _ in nil }
  ) {
    self.init(
      name, kind, isRequired: isRequired, fallback: fallback, doc: doc,
      example: example, remedy: remedy,
      get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key whose value is `nil` if the key is absent.
  init<Value: Sendable>(
    _ name: String, _ path: WritableKeyPath<Object, Value?> & Sendable, _ kind: ValueKind<Value>,
    isRequired: Bool = false, default fallback: Fallback = .blank, doc: String,
    example: String? = nil
  ) {
    self.init(
      name, kind, isRequired: isRequired, fallback: fallback, doc: doc,
      example: example, remedy: { _ in nil },
      get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A key that is used before its object is read.
  init<Value: Sendable>(_ name: String, readBefore kind: ValueKind<Value>, doc: String, example: String) {
    self.init(
      name, kind, isRequired: false, fallback: "none", doc: doc, example: example,
      remedy: { _ in nil }, get: { _ in nil }, set: nil)
  }

  private init<Value: Sendable>(
    _ name: String, _ kind: ValueKind<Value>, isRequired: Bool, fallback: Fallback,
    doc: String, example: String?, remedy: @escaping @Sendable (ManifestDecoder) -> String?,
    get: @escaping @Sendable (Object) -> Value?,
    set: (@Sendable (inout Object, Value) -> Void)?
  ) {
    self.name = name
    self.isRequired = isRequired
    self.doc = doc
    self.example = example
    self.remedy = remedy
    form = kind.form
    let text: @Sendable (Object) -> String? = { get($0).flatMap(kind.text) }
    self.text = text
    decode = { node, object, decoder in
      // In `defaults`, this code also reads the value of a key without `set`, which nothing else reads there.
      guard set != nil || decoder.isPartial, let value = kind.decode(node, &decoder), let set else { return }
      set(&object, value)
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

  /// Describes the key for the reference page and the schema.
  ///
  /// - Parameter blanks: a blank object of each profile.
  func form(in blanks: [Object]) -> KeyForm {
    KeyForm(
      name: name, form: form, presence: isRequired ? .required : .optional(defaults: blanks.map(fallback)),
      doc: doc, example: example)
  }
}

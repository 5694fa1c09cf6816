/// Reads and formats one kind of value. The declarations of keys are composed of these kinds.
///
/// The `form` of a kind describes the accepted values, so that documentation and schemas do not need a
/// reader.
struct ValueKind<Value: Sendable>: Sendable {
  let form: ValueForm
  private let read: @Sendable (YAMLNode, inout ManifestDecoder) -> Value?
  /// The value in the manifest's notation, if it is a word or a number.
  let text: @Sendable (Value) -> String?

  init(
    _ form: ValueForm, text: @escaping @Sendable (Value) -> String? = { _ in nil },
    decode: @escaping @Sendable (YAMLNode, inout ManifestDecoder) -> Value?
  ) {
    self.form = form
    read = decode
    self.text = text
  }

  /// Reads a node. If the node has a mistake, reports it and returns nil.
  func decode(_ node: YAMLNode, _ decoder: inout ManifestDecoder) -> Value? {
    decoder.within(node) { read(node, &$0) }
  }

  /// The same notation for another type.
  func map<Other: Sendable>(
    to other: @escaping @Sendable (Value) -> Other, from value: @escaping @Sendable (Other) -> Value
  ) -> ValueKind<Other> {
    ValueKind<Other>(
      form, text: { text(value($0)) }, decode: { node, decoder in decode(node, &decoder).map(other) })
  }

  /// The same kind, with the location of the value.
  var located: ValueKind<Located<Value>> {
    ValueKind<Located<Value>>(
      form, text: { text($0.value) },
      decode: { node, decoder in decode(node, &decoder).map { Located($0, at: node.location) } })
  }

  /// The same kind with an additional check: a value is rejected if `problem` returns a problem.
  func refused(_ problem: @escaping @Sendable (Value) -> Problem?) -> Self {
    Self(
      form, text: text,
      decode: { node, decoder in
        guard let value = decode(node, &decoder) else { return nil }
        guard let problem = problem(value) else { return value }
        decoder.reportOfValue(problem, at: node.location)
        return nil
      })
  }
}

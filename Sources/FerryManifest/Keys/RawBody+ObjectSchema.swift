/// A body that is sent unchanged: a string, or the content of a file.
enum RawBody: Sendable {
  case text(Template)
  case file(String)
}

/// `body` as a mapping.
private struct BodyFile: Sendable {
  var path: String

  static let shape = ObjectSchema<Self>(
    "Body file", doc: "A body that is the content of a file.",
    keys: [
      Key(
        "file", \.path, .path, isRequired: true,
        doc: """
          The file, relative to the manifest's folder. It is read while it is sent, and its size is the `Content-Length`.
          """,
        example: "status.json")
    ],
    blank: { _, _ in Self(path: "") })
}

extension ValueKind where Value == RawBody {
  static var rawBody: Self {
    let text = ValueKind<Template>.template()
    let file = ValueKind<BodyFile>.object(BodyFile.shape)
    return Self(.either([text.form, file.form])) { node, decoder in
      guard node.members == nil else { return file.decode(node, &decoder).map { .file($0.path) } }
      guard node.scalar != nil, !node.isNull else {
        decoder.mismatch(node, wanted: "a string or { file: … }")
        return nil
      }
      return text.decode(node, &decoder).map { .text($0) }
    }
  }
}

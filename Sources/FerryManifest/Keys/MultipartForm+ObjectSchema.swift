extension MultipartForm {
  static let shape = ObjectSchema<Self>(
    "Form",
    doc: """
      A `multipart/form-data` body (RFC 7578) with the file of a transfer. It contains `fields`, the file and \
      `fields_after`, in this order.
      """,
    keys: [
      Key(
        "fields", \.fields, .formFields, default: "none",
        doc: "The fields before the file.", example: "{ title: \"${file.stem}\" }"),
      Key(
        "file", \.file, .object(File.shape), default: .itsKeys, doc: "The part that contains the file."),
      Key(
        "fields_after", \.fieldsAfter, .formFields, default: "none",
        doc: "The fields after the file.", example: "[{ name: \"tag[]\", value: summer }]"),
    ],
    blank: { _, _ in Self() })
}

extension MultipartForm.File {
  static let shape = ObjectSchema<Self>(
    "Form file", doc: "The part of a form that contains the file.",
    keys: [
      Key(
        "field", \.field, .constant("field name"), doc: "The name of the form's field.", example: "photo"),
      Key(
        "name", \.name, .nonEmptyTemplate("file name"), default: .value("\"${file.name}\""),
        doc: """
          The file name that the server receives. As browsers do, ferry writes `"` as `%22`, CR as `%0D` and LF as \
          `%0A`, and sends all other bytes unchanged.
          """,
        example: "\"${file.path}\""),
      Key(
        "content_type", \.contentType, .partContentType, default: .value("application/octet-stream"),
        doc: "The media type of the part.", example: "image/jpeg"),
    ],
    blank: { _, _ in Self() })
}

extension MultipartForm.Field {
  static let shape = ObjectSchema<Self>(
    "Form field", doc: "One field of a form, as an element of a list.",
    keys: [
      Key(
        "name", \.name, .constant("field name"), isRequired: true,
        doc: "The name of the field; several fields may have the same name.", example: "title"),
      Key(
        "value", \.value, .template(), isRequired: true,
        doc: "The value, which is sent unchanged.", example: "\"${file.stem}\""),
      Key(
        "content_type", \.contentType, .partContentType, default: "none: plain text",
        doc: "The media type of the part.", example: "application/json"),
    ],
    blank: { _, _ in Self(name: "", value: Template([])) })
}

extension ValueKind where Value == [MultipartForm.Field] {
  /// A mapping from names to values, or a list of fields.
  static var formFields: Self {
    let list = ValueKind<[MultipartForm.Field]>.list(.object(MultipartForm.Field.shape))
    let value = ValueKind<Template>.template()
    return Self(.either([.map(key: "field", value: value.form), list.form])) { node, decoder in
      if node.elements != nil { return list.decode(node, &decoder) }
      guard let members = node.members else {
        decoder.mismatch(node, wanted: "a mapping of fields, or a list of them")
        return nil
      }
      let outer = decoder.owner
      defer { decoder.owner = outer }
      return members.compactMap { member in
        decoder.owner = member.key
        let name = decoder.name(ofKey: member.key)
        if let problem = problem(ofName: name) { decoder.report(problem, at: member.key.location) }
        return value.decode(member.value, &decoder).map { .init(name: name, value: $0) }
      }
    }
  }

  private static func problem(ofName name: String) -> Problem? {
    if name.isEmpty {
      return Problem(.emptyText, "the name of this field is empty", help: "specify a field name")
    }
    guard name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return nil
    }
    return Problem(
      .controlCharacter, "the name of this field contains a control character", help: "remove it")
  }
}

extension ValueKind where Value == Template {
  /// A media type (RFC 9110 §8.3.1). Only the syntax of a header line is checked, because the type may
  /// contain references.
  static var partContentType: Self {
    nonEmptyTemplate("media type").refused { template in
      let isLine = template.segments.allSatisfy { segment in
        switch segment {
        case .literal(let text), .value(let text): text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        case .reference: true
        }
      }
      guard isLine else {
        return Problem(
          .invalidMediaType, "a media type consists of printable ASCII characters",
          help: "write a type such as image/jpeg")
      }
      guard template.constant?.contains("/") != false else {
        return Problem(
          .invalidMediaType, "a media type consists of a type, a slash and a subtype",
          help: "write a type such as image/jpeg")
      }
      return nil
    }
  }
}

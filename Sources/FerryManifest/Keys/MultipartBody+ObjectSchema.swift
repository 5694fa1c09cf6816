extension MultipartBody {
  static let shape = ObjectSchema<Self>(
    "Multipart body",
    doc: """
      A `multipart/form-data` body (RFC 7578) of a request that is not a transfer. It contains `fields`, the file and \
      `fields_after`, in this order.
      """,
    keys: [
      Key(
        "fields", \.fields, .formFields, default: "none",
        doc: "The fields before the file.", example: "{ title: weekly }"),
      Key(
        "file", \.file, .object(File.shape), default: "none", doc: "The part that contains a file."),
      Key(
        "fields_after", \.fieldsAfter, .formFields, default: "none",
        doc: "The fields after the file.", example: "[{ name: \"tag[]\", value: summer }]"),
    ],
    blank: { _, _ in Self() },
    finish: { _, node, decoder in
      // Keys that are unknown or not empty have been checked.
      let isEmpty = (node.members ?? []).allSatisfy { member in
        ["fields", "fields_after"].contains(member.key.value) && member.value.isEmptyCollection
      }
      guard node.members != nil, isEmpty, !decoder.isPartial else { return }
      decoder.report(
        .missingAlternative, at: node.location, "a form requires a field or a file",
        help: "add 'fields', 'file' or 'fields_after', for example 'fields: { title: weekly }'")
    })
}

extension YAMLNode {
  fileprivate var isEmptyCollection: Bool { members?.isEmpty ?? elements?.isEmpty ?? isNull }
}

extension MultipartBody.File {
  static let shape = ObjectSchema<Self>(
    "Multipart file", doc: "The part of a multipart body that contains a file.",
    keys: [
      Key(
        "path", \.path, .path, isRequired: true,
        doc: "The file, relative to the manifest's folder.", example: "report.html"),
      Key(
        "field", \.field, .constant("field name"), doc: "The name of the form's field.", example: "document"),
      Key(
        "name", \.name, .nonEmptyTemplate("file name"), default: "the name in `path`",
        doc: "The file name that the server receives.", example: "weekly.html"),
      Key(
        "content_type", \.contentType, .partContentType, default: .value("application/octet-stream"),
        doc: "The media type of the part.", example: "text/html"),
    ],
    blank: { _, _ in Self(path: "") })
}

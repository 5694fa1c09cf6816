/// A `multipart/form-data` body (RFC 7578) that contains the file of a transfer.
package struct MultipartForm: Hashable, Codable, Sendable {
  /// The fields before the file, in the manifest's order.
  package var fields: [Field]
  package var file: File
  /// The fields after the file, in the manifest's order.
  package var fieldsAfter: [Field]

  package struct Field: Hashable, Codable, Sendable {
    package var name: String
    package var value: Template
    /// The content type of the part; `nil` for a part without one, which is plain text (RFC 7578 §4.4).
    package var contentType: Template?

    package init(name: String, value: Template, contentType: Template? = nil) {
      self.name = name
      self.value = value
      self.contentType = contentType
    }
  }

  /// The part that contains the file.
  package struct File: Hashable, Codable, Sendable {
    /// The name of the form's field.
    package var field: String
    /// The file name that the server receives.
    package var name: Template
    package var contentType: Template

    package init(
      field: String = "file", name: Template = Template([.reference(.file(.name))]),
      contentType: Template = Template(literal: "application/octet-stream")
    ) {
      self.field = field
      self.name = name
      self.contentType = contentType
    }
  }

  package init(fields: [Field] = [], file: File = File(), fieldsAfter: [Field] = []) {
    self.fields = fields
    self.file = file
    self.fieldsAfter = fieldsAfter
  }

  /// Every text in the form except the names of its fields.
  package var templates: [Template] {
    Self.templates(of: fields + fieldsAfter) + [file.name, file.contentType]
  }

  static func templates(of fields: [Field]) -> [Template] {
    fields.flatMap { [$0.value] + ($0.contentType.map { [$0] } ?? []) }
  }
}

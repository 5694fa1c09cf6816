/// A `multipart/form-data` body (RFC 7578) of a request that is not a transfer.
package struct MultipartBody: Hashable, Codable, Sendable {
  /// The fields before the file, in the manifest's order.
  package var fields: [MultipartForm.Field] = []
  /// The part that contains a file; `nil` for a form without one.
  package var file: File?
  /// The fields after the file, in the manifest's order.
  package var fieldsAfter: [MultipartForm.Field] = []

  package init() {}

  /// The part that contains a file.
  package struct File: Hashable, Codable, Sendable {
    /// The path, absolute or relative to the manifest's folder.
    package var path: String
    /// The name of the form's field.
    package var field = "file"
    /// The file name that the server receives; `nil` for the name in `path`.
    package var name: Template?
    package var contentType = Template(literal: "application/octet-stream")

    package init(path: String) { self.path = path }
  }

  /// Every text in the form except the names of its fields and the path.
  package var templates: [Template] {
    MultipartForm.templates(of: fields + fieldsAfter)
      + (file.map { [$0.name, $0.contentType].compactMap(\.self) } ?? [])
  }
}

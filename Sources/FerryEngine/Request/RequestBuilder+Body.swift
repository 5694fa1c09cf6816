import FerryDigest
import FerryManifest
import FerryPlan
import FerryReport
import FerryTransfer

extension RequestBuilder {
  func body(
    _ bindings: Bindings, sensitive: inout [String]
  ) throws(TransportFailure) -> TransferRequest.Body {
    switch template.body {
    case .none, .file, .parts, .multipart: return .none
    case .text(let text): return .bytes(try Self.text(text, bindings, sensitive: &sensitive))
    case .form(let fields): return .bytes(try Self.form(fields, bindings, &sensitive))
    case .oauth2(let grant): return .bytes(try Self.body(of: grant, bindings, &sensitive))
    case .listOfParts:
      let value = try Self.value(
        of: .transfer(RequestTemplate.partsCapture), [], bindings, sensitive: &sensitive)
      guard let tags = PartTags(text: String(decoding: value.bytes, as: UTF8.self)) else {
        throw Self.failure("the journal's list of the parts is malformed")
      }
      return .bytes(tags.completion)
    case .json(let json):
      var bytes: [UInt8] = []
      try Self.append(json, bindings, &sensitive, to: &bytes)
      return .bytes(bytes)
    }
  }

  /// The path of the file in the body of a request that is not a transfer; `nil` if there is none.
  var bodyFile: String? {
    switch template.body {
    case .file(let path): path
    case .parts(let parts): parts.file?.path
    case .none, .form, .json, .text, .multipart, .oauth2, .listOfParts: nil
    }
  }

  /// The parts of a `multipart/form-data` body; `nil` for other bodies.
  func formParts(
    _ bindings: Bindings, sensitive: inout [String]
  ) throws(TransportFailure) -> FormParts? {
    switch template.body {
    case .multipart(let form):
      return FormParts(
        before: try Self.fields(form.fields, bindings, &sensitive),
        file: try Self.file(form.file, bindings, &sensitive),
        after: try Self.fields(form.fieldsAfter, bindings, &sensitive))
    case .parts(let parts):
      var file: FormParts.File?
      if let written = parts.file {
        let form = MultipartForm.File(
          field: written.field, name: written.name ?? Template(literal: SplitPath(written.path).name),
          contentType: written.contentType)
        file = try Self.file(form, bindings, &sensitive)
      }
      return FormParts(
        before: try Self.fields(parts.fields, bindings, &sensitive), file: file,
        after: try Self.fields(parts.fieldsAfter, bindings, &sensitive))
    case .none, .form, .json, .text, .file, .oauth2, .listOfParts: return nil
    }
  }

  private static func file(
    _ file: MultipartForm.File, _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> FormParts.File {
    let name = try text(file.name, bindings, sensitive: &sensitive)
    // Servers treat a part with an empty file name as a field for which no file was chosen.
    guard !name.isEmpty else { throw failure("the file name in the form is empty") }
    guard !name.contains(0) else { throw failure("the file name in the form contains NUL") }
    return FormParts.File(
      field: Array(file.field.utf8), name: name,
      contentType: try mediaType(file.contentType, bindings, &sensitive))
  }

  private static func fields(
    _ fields: [MultipartForm.Field], _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> [FormParts.Field] {
    var parts: [FormParts.Field] = []
    for field in fields {
      var type: [UInt8]?
      if let template = field.contentType { type = try mediaType(template, bindings, &sensitive) }
      parts.append(
        .init(
          name: Array(field.name.utf8), value: try text(field.value, bindings, sensitive: &sensitive),
          contentType: type))
    }
    return parts
  }

  /// The value of a part's Content-Type. A byte that is not printable ASCII could end the line or the header section.
  private static func mediaType(
    _ template: Template, _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> [UInt8] {
    let type = try text(template, bindings, sensitive: &sensitive)
    guard !type.isEmpty, type.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw failure("a content type in the form is empty or contains a byte that is not printable ASCII")
    }
    return type
  }

  static func form(
    _ fields: [RequestTemplate.Field], _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
      PercentEncoding.append(Array(field.name.utf8), for: .form, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      PercentEncoding.append(try text(field.value, bindings, sensitive: &sensitive), for: .form, to: &bytes)
    }
    return bytes
  }

  /// Appends compact JSON with members in the manifest's order. The manifest's reader limits the depth of a template.
  private static func append(
    _ json: JSONTemplate, _ bindings: Bindings, _ sensitive: inout [String], to bytes: inout [UInt8]
  ) throws(TransportFailure) {
    switch json {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .number(let value):
      guard value.isFinite else { throw failure("a number in the JSON body is not finite") }
      bytes += value.description.utf8
    case .string(let template):
      if template.segments.count == 1, case .reference(let reference, let filters) = template.segments[0] {
        let value = try value(of: reference, filters, bindings, sensitive: &sensitive)
        if value.isNumber { bytes += value.bytes } else { JSONString.append(value.bytes, to: &bytes) }
      } else {
        JSONString.append(try text(template, bindings, sensitive: &sensitive), to: &bytes)
      }
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try append(element, bindings, &sensitive, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONString.append(Array(member.name.utf8), to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        try append(member.value, bindings, &sensitive, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

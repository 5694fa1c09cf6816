import FerryManifest
import FerryPlan
import FerryTransfer

/// Makes requests from one template of the manifest. Prepared once for each step of a node.
package struct RequestBuilder: Sendable {
  let template: RequestTemplate
  private let fields: [PreparedField]

  private struct PreparedField: Sendable {
    var field: RequestTemplate.Field
    var isCredential: Bool
  }

  /// - Parameters:
  ///   - sessionHeaders: the session's; a field of the request replaces one of the same name.
  ///   - apply: the token's field, which replaces both and is always a credential.
  package init(
    _ template: RequestTemplate, sessionHeaders: [RequestTemplate.Field] = [],
    apply: RequestTemplate.Field? = nil
  ) {
    self.template = template
    var fields: [PreparedField] = []
    func set(_ field: RequestTemplate.Field, isCredential: Bool) {
      let prepared = PreparedField(field: field, isCredential: isCredential)
      let name = field.name.lowercased()
      if let index = fields.firstIndex(where: { $0.field.name.lowercased() == name }) {
        fields[index] = prepared
      } else {
        fields.append(prepared)
      }
    }
    for field in sessionHeaders + template.headers { set(field, isCredential: Self.isCredential(field)) }
    if let apply { set(apply, isCredential: true) }
    if let type = Self.contentType(of: template.body),
      !fields.contains(where: { $0.field.name.lowercased() == "content-type" })
    {
      let field = RequestTemplate.Field(name: "Content-Type", value: Template(literal: type))
      set(field, isCredential: false)
    }
    self.fields = fields
  }

  /// - Parameter base: the URL that a relative one is resolved against (a captured `Location`).
  /// - Throws: a failure of code `request` that names the reference, never a value.
  package func build(_ bindings: Bindings, base: String? = nil) throws(TransportFailure) -> BuiltRequest {
    var headers: [TransferRequest.HeaderField] = []
    headers.reserveCapacity(fields.count)
    for prepared in fields {
      let name = prepared.field.name
      let value = try Self.text(prepared.field.value, bindings)
      // Each of them would end the field and begin another (RFC 9110 §5.5).
      if value.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) {
        throw Self.failure("the value of the header '\(name)' has a line end or NUL in it")
      }
      headers.append(
        .init(name: name, value: String(decoding: value, as: UTF8.self), isCredential: prepared.isCredential))
    }
    return BuiltRequest(
      method: template.method, url: try url(bindings, base: base), headers: headers, body: try body(bindings))
  }

  /// The template's bytes with nothing encoded.
  static func text(_ template: Template, _ bindings: Bindings) throws(TransportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for segment in template.segments {
      switch segment {
      case .literal(let text), .value(let text): bytes += text.utf8
      case .reference(let reference): bytes += try value(of: reference, bindings).bytes
      }
    }
    return bytes
  }

  static func value(
    of reference: Reference, _ bindings: Bindings
  ) throws(TransportFailure) -> ReferenceValue {
    guard let value = bindings.value(of: reference) else { throw failure("\(reference) has no value") }
    return value
  }

  static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.request, message, mayHaveReachedServer: false)
  }

  private static func isCredential(_ field: RequestTemplate.Field) -> Bool {
    if ["authorization", "cookie", "proxy-authorization", "x-api-key"].contains(field.name.lowercased()) {
      return true
    }
    return field.value.references.contains { reference in
      switch reference {
      case .secret, .token: true
      case .file, .allocate, .transfer, .request, .run: false
      }
    }
  }

  private static func contentType(of body: RequestTemplate.Body) -> String? {
    switch body {
    case .none: nil
    case .form: "application/x-www-form-urlencoded"
    case .json: "application/json"
    }
  }
}

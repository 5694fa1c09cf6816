import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

/// Builds requests from one template of the manifest. A builder is created once for each step of a node.
///
/// This is a class, because each use of a struct of this size would copy it.
package final class RequestBuilder: Sendable {
  let template: RequestTemplate
  private let fields: [PreparedField]
  /// How the request is signed; `nil` for requests without a signature.
  let sign: RequestSigning.AWSV4?
  /// The credentials for challenges, and the part of the manifest that has them; `nil` for none.
  let auth: (credentials: HTTPCredentials, owner: TransferRequest.HeaderField.Owner)?
  /// The netrc files, by their paths in the manifest.
  let netrcs: [String: Netrc]

  /// The parameter of the query that carries the token; `nil` if the token is not in the query.
  let tokenQuery: RequestTemplate.Field?
  /// The name of the cookie that carries the token; `nil` if the token is not in a cookie.
  private let cookie: String?

  /// Whether a response determines the origin of the URL.
  private let isURLCaptured: Bool
  /// The sensitive parts that do not depend on the attempt: the origins that the manifest names.
  private let sensitive: SensitiveParts
  /// The URL, if it is the same in each request.
  let fixedURL: String?

  private struct PreparedField: Sendable {
    var field: RequestTemplate.Field
    var owner: TransferRequest.HeaderField.Owner
    /// Whether the field counts as a credential because of its name.
    var isCredentialByName: Bool
    /// The field as it is sent, if it is the same in each request.
    var fixed: TransferRequest.HeaderField?
  }

  /// - Parameters:
  ///   - sessionHeaders: the session's header fields. A field of the request replaces a session field with
  ///     the same name.
  ///   - apply: how the request carries its token. The token's header field replaces both.
  ///   - sessionSign: the session's signature, unless the request has its own.
  ///   - sessionAuth: the session's credentials, unless the request has its own.
  ///   - netrcs: the netrc files, by their paths in the manifest.
  ///   - isURLCaptured: whether a response determines the origin of the URL.
  ///   - known: the origins that the manifest names for the values in the request.
  package init(
    _ template: RequestTemplate, sessionHeaders: [RequestTemplate.Field] = [],
    apply: TokenApplication? = nil, sessionSign: RequestSigning? = nil,
    sessionAuth: RequestAuth? = nil, netrcs: [String: Netrc] = [:], isURLCaptured: Bool = false,
    known: KnownOrigins = KnownOrigins()
  ) {
    self.template = template
    sign =
      switch template.sign ?? sessionSign {
      case .awsV4(let signing): signing
      case .off, nil: nil
      }
    auth =
      switch template.auth ?? sessionAuth {
      case .credentials(let credentials): (credentials, template.auth == nil ? .session : .request)
      case .off, nil: nil
      }
    self.netrcs = netrcs
    self.isURLCaptured = isURLCaptured
    sensitive = SensitiveParts(isURLCaptured: isURLCaptured, known: known)
    var fields: [PreparedField] = []
    func set(_ field: RequestTemplate.Field, _ owner: TransferRequest.HeaderField.Owner) {
      let prepared = PreparedField(
        field: field, owner: owner, isCredentialByName: Self.isCredentialByName(field))
      let name = field.name.lowercased()
      if let index = fields.firstIndex(where: { $0.field.name.lowercased() == name }) {
        fields[index] = prepared
      } else {
        fields.append(prepared)
      }
    }
    for field in sessionHeaders { set(field, .session) }
    for field in template.headers { set(field, .request) }
    tokenQuery =
      switch apply?.target {
      case .query(let name): apply.map { .init(name: name, value: $0.value) }
      case .header, .cookie, nil: nil
      }
    cookie =
      if case .cookie(let name) = apply?.target { name } else { nil }
    if let apply, let name = apply.header { set(.init(name: name, value: apply.value), .token) }
    if case .oauth2 = template.body, !fields.contains(where: { $0.field.name.lowercased() == "accept" }) {
      // Some servers otherwise respond with a form instead of JSON.
      set(RequestTemplate.Field(name: "Accept", value: Template(literal: "application/json")), .request)
    }
    if template.decompress {
      set(.init(name: "Accept-Encoding", value: Template(literal: ContentDecoder.accepted)), .request)
    }
    if let type = Self.contentType(of: template.body),
      !fields.contains(where: { $0.field.name.lowercased() == "content-type" })
    {
      set(RequestTemplate.Field(name: "Content-Type", value: Template(literal: type)), .request)
    }
    self.fields = fields.map { field in
      guard field.owner != .token, field.field.value.references.isEmpty else { return field }
      var field = field
      // A malformed field is reported when a request is built.
      field.fixed = try? Self.header(field, Bindings(), cookie: nil)
      return field
    }
    var values = SensitiveParts()
    let hasReferences =
      !template.url.references.isEmpty || template.query.contains { !$0.value.references.isEmpty }
    // A malformed URL is reported when a request is built.
    fixedURL = hasReferences ? nil : try? Self.url(template, Bindings(), base: nil, &values)
  }

  /// Builds the request for one attempt, with the values of its references.
  ///
  /// - Parameter base: the base URL for relative URLs (a captured `Location`).
  /// - Throws: a failure with the code `request` that names the reference, never a value.
  package func build(_ bindings: Bindings, base: String? = nil) throws(TransportFailure) -> BuiltRequest {
    var headers: [TransferRequest.HeaderField] = []
    headers.reserveCapacity(fields.count)
    for field in fields {
      if let fixed = field.fixed {
        headers.append(fixed)
      } else {
        headers.append(try Self.header(field, bindings, cookie: cookie))
      }
    }
    if let metadata = try metadata(bindings) { headers.append(metadata) }
    let credentials = try clientCredentials(bindings)
    if let credentials {
      headers.removeAll { $0.name.lowercased() == "authorization" }
      headers.append(
        .init(
          name: "Authorization", value: "Basic \(credentials.text)",
          sensitivity: .init(.request, values: credentials.values)))
    }
    var sensitive = sensitive
    let url = try url(bindings, base: base, &sensitive)
    if isURLCaptured, hasUserinfo { sensitive.url.append("the URL's user name and password") }
    let body = try body(bindings, sensitive: &sensitive.body)
    let form = try formParts(bindings, sensitive: &sensitive.body)
    return BuiltRequest(
      method: template.method, url: url, headers: headers, body: body, form: form, bodyFile: bodyFile,
      sensitive: sensitive,
      signing: try signing(bindings), authentication: try authentication(bindings, url: url),
      checksum: try checksum(bindings), clientCredentials: credentials?.text,
      queryToken: try queryToken(bindings))
  }

  private static func header(
    _ prepared: PreparedField, _ bindings: Bindings, cookie: String?
  ) throws(TransportFailure) -> TransferRequest.HeaderField {
    let name = prepared.field.name
    var sensitive: [String] = []
    var value = try text(prepared.field.value, bindings, sensitive: &sensitive)
    if let cookie, prepared.owner == .token { value = try Self.cookie(cookie, value) }
    // A line break would end the field and start another. NUL is not allowed in a field (RFC 9110 §5.5).
    if value.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) {
      throw failure("the value of the header '\(name)' contains a line break or NUL")
    }
    let isKept = !sensitive.isEmpty || prepared.isCredentialByName || prepared.owner == .token
    return .init(
      name: name, value: String(decoding: value, as: UTF8.self),
      sensitivity: isKept ? .init(prepared.owner, values: sensitive) : nil)
  }

  /// The `Upload-Metadata` of a tus upload; `nil` without pairs.
  private func metadata(_ bindings: Bindings) throws(TransportFailure) -> TransferRequest.HeaderField? {
    guard !template.metadata.isEmpty else { return nil }
    var sensitive: [String] = []
    var pairs: [String] = []
    for field in template.metadata {
      let value = try Self.text(field.value, bindings, sensitive: &sensitive)
      let encoded = String(decoding: Base64.encode(value, isURLSafe: false, isPadded: true), as: UTF8.self)
      // If the value is empty, the pair consists of the key alone.
      pairs.append(value.isEmpty ? field.name : "\(field.name) \(encoded)")
    }
    return .init(
      name: "Upload-Metadata", value: pairs.joined(separator: ","),
      sensitivity: sensitive.isEmpty ? nil : .init(.request, values: sensitive))
  }

  /// The template's bytes without percent-encoding.
  ///
  /// - Parameter sensitive: receives the names of the sensitive values.
  static func text(
    _ template: Template, _ bindings: Bindings, sensitive: inout [String]
  ) throws(TransportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for segment in template.segments {
      switch segment {
      case .literal(let text), .value(let text): bytes += text.utf8
      case .reference(let reference, let filters):
        bytes += try value(of: reference, filters, bindings, sensitive: &sensitive).bytes
      }
    }
    return bytes
  }

  /// The value of a reference after its filters. It is sensitive if the original value is sensitive.
  static func value(
    of reference: Reference, _ filters: [ReferenceFilter], _ bindings: Bindings, sensitive: inout [String]
  ) throws(TransportFailure) -> ReferenceValue {
    guard var value = bindings.value(of: reference) else { throw failure("\(reference) has no value") }
    if value.isSensitive, !sensitive.contains(reference.path) { sensitive.append(reference.path) }
    guard !filters.isEmpty else { return value }
    do {
      value.bytes = try filters.apply(to: value.bytes)
    } catch {
      throw failure(
        "\(reference.description(with: filters)): the value is not UTF-8, which the filter "
          + "'\(error.filter.rawValue)' requires")
    }
    value.isNumber = false
    return value
  }

  static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.request, message, mayHaveReachedServer: false)
  }

  /// Whether the manifest puts a user name into a URL whose host is determined by a response.
  private var hasUserinfo: Bool {
    switch template.url.segments.first {
    case .literal(let text), .value(let text):
      // Compare scalars: a slash and a combining mark after it form a single Character.
      guard let authority = text.unicodeScalars.firstRange(of: "://".unicodeScalars) else { return false }
      return text.unicodeScalars[authority.upperBound...].prefix { !"/?#".unicodeScalars.contains($0) }
        .contains("@")
    case .reference, nil: return false
    }
  }

  private static func isCredentialByName(_ field: RequestTemplate.Field) -> Bool {
    guard ["authorization", "cookie", "proxy-authorization", "x-api-key"].contains(field.name.lowercased())
    else { return false }
    // A captured value that is not declared secret in the manifest may be sent to any server that a response
    // names, alone or after a scheme such as `Bearer`.
    let isCaptured = field.value.references.contains { reference in
      switch reference {
      case .allocate, .transfer, .request, .item: true
      case .secret, .token, .file, .run: false
      }
    }
    let words = field.value.segments.flatMap { segment -> [Substring] in
      switch segment {
      case .literal(let text), .value(let text): return text.split(separator: " ")
      case .reference: return []
      }
    }
    let isScheme = words.allSatisfy { word in
      word.utf8.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) || $0 == UInt8(ascii: "-") }
    }
    return !isCaptured || words.count > 1 || !isScheme
  }

  private static func contentType(of body: RequestTemplate.Body) -> String? {
    switch body {
    // The Content-Type of a multipart body contains the boundary of the attempt.
    case .none, .multipart, .parts: nil
    case .text: "text/plain; charset=utf-8"
    case .file: "application/octet-stream"
    case .form, .oauth2: "application/x-www-form-urlencoded"
    case .json: "application/json"
    case .listOfParts: "application/xml"
    }
  }
}

extension RequestTemplate {
  /// The keys of a request. The default method is GET, or POST if there is a body.
  static let shape = shape(for: .plain)
  /// A request that usually changes something: POST by default.
  static let changingShape = shape(for: .changing)
  /// A request whose body is the file. The protocol determines its method.
  static let transferShape = shape(for: .transfer)

  /// A request that releases something: DELETE by default.
  static let deletingShape = shape(for: .deleting)

  /// The request for an item of a list, which determines the URL.
  static let downloadShape = ObjectSchema(
    "Download request", doc: "The GET for an item of a list.",
    keys: shape.keys.filter { ["query", "headers"].contains($0.name) },
    blank: { _, _ in RequestTemplate(url: Template([])) })

  /// The keys that requests share. The other keys belong to one kind of request.
  static let commonShape = ObjectSchema(
    "Common request", doc: "Defaults for all HTTP requests.",
    keys: shape.keys.filter { $0.name == "headers" },
    blank: { _, _ in RequestTemplate(url: Template([])) })

  private enum Use {
    case plain, changing, transfer, deleting

    /// The default method of a request without a body.
    var method: String {
      switch self {
      case .plain, .transfer: "GET"
      case .changing: "POST"
      case .deleting: "DELETE"
      }
    }

    /// The default method in words, if other keys determine the default.
    var methodInWords: Key<RequestTemplate>.Fallback {
      switch self {
      case .plain: "GET; POST with a body"
      case .transfer: "the protocol's"
      case .changing, .deleting: .blank
      }
    }
  }

  private static func shape(for use: Use) -> ObjectSchema<RequestTemplate> {
    ObjectSchema(
      "Request", doc: "One HTTP request.",
      keys: [
        Key(
          "method", \.method, .method,
          default: use.methodInWords,
          doc: """
            The HTTP method, in uppercase. The default is POST in `allocate` and `commit`, DELETE in `abandon`, and the \
            protocol's method in `transfer`.
            """,
          example: "POST"),
        Key(
          "url", \.url, .url, isRequired: true,
          doc: """
            The request URL, with the scheme http or https. Values from `vars` are inserted verbatim. A reference \
            at the beginning is used as a URL. Any other reference is percent-encoded for its position, unless \
            the filter `url` or `query` has already encoded it.
            """,
          example: "https://example.com/uploads"),
        Key(
          "query", \.query, .query, default: "none",
          doc: """
            Parameters that are added to the query of the URL. Their names and values are percent-encoded, unless the filter \
            `url` or `query` has already encoded a value.
            """,
          example: "{ overwrite: \"true\", name: \"${file.name}\" }"),
        Key(
          "headers", \.headers, .headers, default: "none",
          doc: "The header fields. ferry sets `Host`, `Content-Length` and `Transfer-Encoding` itself.",
          example: "{ Accept: application/json }"),
        Key(
          "form", \.form, .form, default: "no body",
          doc: "A body of type `application/x-www-form-urlencoded`. Not allowed in `transfer`.",
          example: "{ grant_type: client_credentials }"),
        Key(
          "json", \.json, .json, default: "no body",
          doc:
            "A JSON body. A string that consists of one reference keeps the type of its value. Not allowed in `transfer`.",
          example: "{ name: \"${file.name}\", size: \"${file.size}\" }"),
        Key(
          "body", \.raw, .rawBody, default: "no body",
          doc: """
            A string, which is sent unchanged, or a file. Without a `Content-Type` in `headers`, the type is \
            `text/plain; charset=utf-8` for a string and `application/octet-stream` for a file. Not allowed in `transfer`.
            """,
          example: "{ file: status.json }"),
        Key(
          "multipart", \.multipart, .object(MultipartBody.shape), default: "no body",
          doc: "A body of type `multipart/form-data`, with fields and a file. Not allowed in `transfer`.",
          example: "{ fields: { title: weekly }, file: { path: report.html } }"),
      ],
      rules: [.atMostOne(bodyKeys)],
      blank: { _, _ in RequestTemplate(method: use.method, url: Template([])) },
      finish: { request, node, decoder in
        if use == .plain, node["method"] == nil, bodyKeys.contains(where: { node[$0] != nil }) {
          request.method = "POST"
        }
        guard let members = node.members else { return }
        guard use == .transfer else { return checkContentType(of: request, node, &decoder) }
        for member in members where bodyKeys.contains(member.key.value) {
          decoder.report(
            .transferBody, at: member.key.location,
            "a transfer cannot have '\(member.key.value)': its body is the file",
            help: ["form", "multipart"].contains(member.key.value)
              ? "move it to 'allocate' or 'commit', or move it next to 'request' and add 'protocol: multipart_form' "
                + "to send the file in a form"
              : "move it to 'allocate' or 'commit'")
        }
      })
  }

  /// The keys that define a body.
  private static let bodyKeys = ["form", "json", "body", "multipart"]

  private static func checkContentType(
    of request: RequestTemplate, _ node: YAMLNode, _ decoder: inout ManifestDecoder
  ) {
    guard case .parts = request.body else { return }
    for header in node["headers"]?.members ?? [] where header.key.value.lowercased() == "content-type" {
      decoder.report(
        .ownHeader, at: header.key.location,
        "\(header.key.value.quoted) is set by ferry in a request with 'multipart'",
        help: "remove it; it contains the boundary, which differs in every attempt. The type of the file is "
          + "'multipart: { file: { content_type: … } }'")
    }
  }

  private var raw: RawBody? {
    get {
      switch body {
      case .text(let text): .text(text)
      case .file(let path): .file(path)
      case .none, .form, .json, .parts, .multipart, .oauth2, .listOfParts: nil
      }
    }
    set {
      switch newValue {
      case .text(let text): body = .text(text)
      case .file(let path): body = .file(path)
      case nil: break
      }
    }
  }

  private var multipart: MultipartBody? {
    get { if case .parts(let parts) = body { parts } else { nil } }
    set { if let newValue { body = .parts(newValue) } }
  }

  private var form: [Field]? {
    get { if case .form(let fields) = body { fields } else { nil } }
    set { if let newValue { body = .form(newValue) } }
  }

  private var json: JSONTemplate? {
    get { if case .json(let json) = body { json } else { nil } }
    set { if let newValue { body = .json(newValue) } }
  }
}

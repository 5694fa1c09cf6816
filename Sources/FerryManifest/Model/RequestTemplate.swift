/// One HTTP request of the manifest.
package struct RequestTemplate: Hashable, Codable, Sendable {
  /// An HTTP method (RFC 9110 §9) in uppercase, as written.
  package var method: String
  package var url: Template
  /// The parameters that are added to the URL's query, in the manifest's order.
  package var query: [Field] = []
  package var headers: [Field]
  package var body: Body
  /// The pairs of `Upload-Metadata` (tus), whose values are sent in Base64; without pairs, the field is not sent.
  package var metadata: [Field] = []
  /// The required checksum of the file in which the response is stored; `nil` for none.
  package var checksum: DownloadChecksum?
  /// Whether the response may be compressed, and is decompressed before it is read.
  package var decompress = false
  /// How the request is signed; `nil` to sign it as its session specifies.
  package var sign: RequestSigning?
  /// The credentials of the request; `nil` for those of its session.
  package var auth: RequestAuth?

  package struct Field: Hashable, Codable, Sendable {
    package var name: String
    package var value: Template

    package init(name: String, value: Template) {
      self.name = name
      self.value = value
    }
  }

  package enum Body: Hashable, Codable, Sendable {
    case none
    /// An `application/x-www-form-urlencoded` body, with its fields in the manifest's order.
    case form([Field])
    case json(JSONTemplate)
    /// A string that is sent unchanged.
    case text(Template)
    /// The content of the file at this path, absolute or relative to the manifest's folder.
    case file(String)
    /// A `multipart/form-data` body of a request that is not a transfer.
    case parts(MultipartBody)
    /// A `multipart/form-data` body that contains the file of a transfer.
    case multipart(MultipartForm)
    /// A request for an access token, with the credentials of its client.
    case oauth2(OAuth2Grant)
    /// The list of an S3 upload's parts, for `CompleteMultipartUpload`.
    case listOfParts
  }

  package init(method: String = "GET", url: Template, headers: [Field] = [], body: Body = .none) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Every text of the request: URL, query, headers, metadata, body, signature, credentials, checksum.
  package var templates: [Template] {
    let head =
      [url] + query.map(\.value) + headers.map(\.value) + metadata.map(\.value) + (sign?.templates ?? [])
      + (auth?.templates ?? []) + (checksum?.templates ?? [])
    switch body {
    case .none: return head
    case .form(let fields): return head + fields.map(\.value)
    case .json(let json): return head + json.templates
    case .text(let text): return head + [text]
    case .parts(let parts): return head + parts.templates
    case .multipart(let form): return head + form.templates
    case .oauth2(let grant): return head + grant.templates
    case .file, .listOfParts: return head
    }
  }

  package var references: [Reference] {
    templates.flatMap(\.references) + (body == .listOfParts ? [.transfer(Self.partsCapture)] : [])
  }

  /// The name of the capture with the numbers and ETags of an S3 upload's parts.
  package static let partsCapture = "parts"
}

extension RequestTemplate {
  /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2, RFC 4918 §§9.1
  /// and 9.3).
  ///
  /// COPY and MOVE are idempotent too (RFC 4918 §§9.8 and 9.9), but the response to a repeated request does not show
  /// whether the first was executed: the source of a MOVE no longer exists.
  package var isIdempotent: Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "MKCOL", "PROPFIND"].contains(method)
  }
}

extension RequestTemplate.Body {
  /// The protocol that the body implies; `nil` for bodies that any request may have.
  package var `protocol`: Upload.Transfer.`Protocol`? {
    switch self {
    case .multipart: .multipartForm
    case .none, .form, .json, .text, .file, .parts, .oauth2, .listOfParts: nil
    }
  }
}

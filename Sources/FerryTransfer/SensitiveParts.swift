import FerryPlan

/// The parts of a request that must not reach an origin that the manifest does not name. Values are listed
/// by name, such as `secrets.client_secret`, and never by their content.
package struct SensitiveParts: Equatable, Sendable {
  /// Values in the URL after its beginning.
  package var url: [String]
  /// The value at the beginning of the URL, such as a presigned URL. It determines the target of the request, and it
  /// must not be sent to a different origin after a redirect.
  package var urlBeginning: [String]
  package var body: [String]
  /// Whether the origin of the URL comes from a response rather than from the manifest.
  package var isURLCaptured: Bool
  @Shared package var known: KnownOrigins

  package init(
    url: [String] = [], urlBeginning: [String] = [], body: [String] = [], isURLCaptured: Bool = false,
    known: KnownOrigins = KnownOrigins()
  ) {
    self.url = url
    self.urlBeginning = urlBeginning
    self.body = body
    self.isURLCaptured = isURLCaptured
    self.known = known
  }
}

/// The origins that the manifest itself names for a request, grouped by the part of the request to which
/// they apply.
package struct KnownOrigins: Equatable, Sendable {
  /// The origins for the request's own header fields, URL and body.
  package var request: OriginSet
  /// The origins for the session's header fields.
  package var session: OriginSet
  /// The origins for the token's header field.
  package var token: OriginSet
  /// User names and passwords in the manifest's URLs, by origin.
  package var userinfo: [Origin: Userinfo]

  package init(
    request: OriginSet = OriginSet(), session: OriginSet = OriginSet(), token: OriginSet = OriginSet(),
    userinfo: [Origin: Userinfo] = [:]
  ) {
    self.request = request
    self.session = session
    self.token = token
    self.userinfo = userinfo
  }
}

extension TransferRequest.HeaderField {
  /// The reason why a field is withheld from other origins.
  package struct Sensitivity: Hashable, Sendable {
    package var owner: Owner
    /// The names of the sensitive values in the field; empty if the field is a credential by its name alone.
    package var values: [String]
    var role: Role

    package init(_ owner: Owner, values: [String] = []) {
      self.init(owner, values: values, role: .field)
    }

    init(_ owner: Owner, values: [String] = [], role: Role) {
      self.owner = owner
      self.values = values
      self.role = role
    }
  }

  /// The kind of value that a field contains or represents. `OriginGuard` decides about all of them in the same way.
  enum Role: Hashable, Sendable {
    /// A header field that is sent as it is.
    case field
    /// The signature of the request, or a field in its place before the request is signed.
    case signature
    /// A field in place of the credentials that respond to a challenge.
    case credentials
    /// A field in place of the token in the query.
    case queryToken
  }

  var role: Role { sensitivity?.role ?? .field }

  /// The part of the manifest that sets the field. It determines the known origins for the field.
  package enum Owner: Hashable, Sendable {
    case request
    case session
    /// The `apply` section of the token.
    case token
  }
}

extension TransferRequest {
  /// The handling of redirects.
  package struct Redirects: Equatable, Sendable {
    /// The maximum number of redirects to follow. With 0, the first redirect is the final response.
    package var limit: Int
    package var acrossOrigins: AcrossOrigins
    /// The origins to which redirects and URLs from responses and lists may lead; `nil` for any origin.
    package var origins: OriginSet?
    /// Whether a 308 response is the final response to the request. In upload sessions, it means that the upload is
    /// incomplete.
    package var keeps308 = false

    package init(limit: Int = 10, acrossOrigins: AcrossOrigins = .refuse, origins: OriginSet? = nil) {
      self.limit = limit
      self.acrossOrigins = acrossOrigins
      self.origins = origins
    }

    func mayLead(to origin: Origin) -> Bool { origins?.contains(origin) ?? true }
  }

  /// The handling of a sensitive request that would be redirected to a different origin.
  package enum AcrossOrigins: Equatable, Sendable {
    /// The request fails.
    case refuse
    /// The request is sent without its sensitive header fields; if its URL or body is sensitive, it fails.
    case strip
    /// The request is sent unchanged.
    case follow
  }
}

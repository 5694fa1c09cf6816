import FerryPlan

/// The parts of a request that must not reach an origin that the manifest does not name. Values are listed by
/// name, such as `secrets.client_secret`, never by their text.
package struct SensitiveParts: Equatable, Sendable {
  /// Values in the URL after its beginning.
  package var url: [String]
  /// The value that the URL begins with, such as a pre-signed URL. It determines where the request goes, and
  /// a redirect must not take it to another origin.
  package var urlBeginning: [String]
  package var body: [String]
  /// Whether a response, rather than the manifest, names the origin of the URL.
  package var isURLCaptured: Bool
  package var known: KnownOrigins

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

/// The origins that the manifest itself names for a request, grouped by the part of the request to which they
/// apply.
package struct KnownOrigins: Equatable, Sendable {
  /// For the request's own header fields, URL and body.
  package var request: OriginSet
  /// For the session's header fields.
  package var session: OriginSet
  /// For the token's header field.
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
  /// Why a field is withheld from other origins.
  package struct Sensitivity: Hashable, Sendable {
    package var owner: Owner
    /// Names of the sensitive values in the field; empty if the field's name alone makes it a credential.
    package var values: [String]

    package init(_ owner: Owner, values: [String] = []) {
      self.owner = owner
      self.values = values
    }
  }

  /// The part of the manifest that sets the field. It determines which origins are known for the field.
  package enum Owner: Hashable, Sendable {
    case request
    case session
    /// The token's `apply`.
    case token
  }
}

extension TransferRequest {
  /// How redirects are followed.
  package struct Redirects: Equatable, Sendable {
    /// How many redirects are followed. With 0, the first redirect is the response.
    package var limit: Int
    package var acrossOrigins: AcrossOrigins

    package init(limit: Int = 10, acrossOrigins: AcrossOrigins = .refuse) {
      self.limit = limit
      self.acrossOrigins = acrossOrigins
    }
  }

  /// What happens if a sensitive request would be redirected to another origin.
  package enum AcrossOrigins: Equatable, Sendable {
    /// The request fails.
    case refuse
    /// The request is sent without its sensitive header fields; if its URL or body is sensitive, it fails.
    case strip
    /// The request is sent unchanged.
    case follow
  }
}

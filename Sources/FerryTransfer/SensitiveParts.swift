import FerryPlan

/// What of a request must not reach an origin that the manifest does not name. Values are listed by name, such as
/// `secrets.client_secret`, never by their text.
package struct SensitiveParts: Equatable, Sendable {
  /// Values in the URL behind its beginning.
  package var url: [String]
  /// The value that the URL begins with, such as a pre-signed URL. The request goes where it leads, and a redirect
  /// takes it to no other origin.
  package var urlBeginning: [String]
  package var body: [String]
  /// Whether a response, and not the manifest, names the origin of the URL.
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

/// The origins that the manifest itself names for a request, by what the request carries.
package struct KnownOrigins: Equatable, Sendable {
  /// For the request's own header fields, URL and body.
  package var request: OriginSet
  /// For the session's header fields.
  package var session: OriginSet
  /// For the token's header field.
  package var token: OriginSet
  /// User names and passwords that the manifest's URLs hold, by their origin.
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
  /// Why a field is kept from other origins.
  package struct Sensitivity: Hashable, Sendable {
    package var owner: Owner
    /// Names of the sensitive values in it; empty where the field's name alone makes it a credential.
    package var values: [String]

    package init(_ owner: Owner, values: [String] = []) {
      self.owner = owner
      self.values = values
    }
  }

  /// Which part of the manifest sets the field: it decides which origins are known to it.
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
    /// How many are followed; with 0 the first one is the response.
    package var limit: Int
    package var acrossOrigins: AcrossOrigins

    package init(limit: Int = 10, acrossOrigins: AcrossOrigins = .refuse) {
      self.limit = limit
      self.acrossOrigins = acrossOrigins
    }
  }

  /// What happens to a sensitive request that would go to another origin.
  package enum AcrossOrigins: Equatable, Sendable {
    /// It fails.
    case refuse
    /// It goes there without its sensitive header fields; with a sensitive URL or body it fails.
    case strip
    /// It goes there as it is.
    case follow
  }
}

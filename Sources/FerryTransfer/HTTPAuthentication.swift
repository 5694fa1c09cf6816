import FerryDigest
import FerryPlan

/// The credentials for authentication challenges (RFC 9110, section 11). They are printed as `***`.
package struct HTTPAuthentication: Hashable, Sendable {
  package enum Scheme: Sendable {
    case basic, digest, ntlm, negotiate
    /// The strongest of Digest, NTLM and Basic that the server offers.
    case any
  }

  package let scheme: Scheme
  let user: String
  let password: String
  /// Whether Basic credentials are sent without a challenge.
  let isPreemptive: Bool
  /// The part of the manifest that has the credentials. It determines their known origins.
  let owner: TransferRequest.HeaderField.Owner
  /// The only host that receives the credentials, because a netrc file has them for this host; `nil` for no
  /// restriction.
  private let host: String?

  /// - Parameter urlOfHost: a URL of the only host that receives the credentials; `nil` for no restriction.
  package init(
    scheme: Scheme, user: String, password: String, isPreemptive: Bool = false,
    owner: TransferRequest.HeaderField.Owner, urlOfHost: String? = nil
  ) {
    // An invalid URL has no host, so no origin matches.
    host = urlOfHost.map { CurlURL($0)?.origin?.host ?? "" }
    self.scheme = scheme
    self.user = user
    self.password = password
    self.isPreemptive = isPreemptive
    self.owner = owner
  }

  /// The schemes to use, the preferred one first.
  var schemes: [AuthenticationScheme] {
    switch scheme {
    case .basic: [.basic]
    case .digest: [.digest]
    case .ntlm: [.ntlm]
    case .negotiate: [.negotiate]
    case .any: [.digest, .ntlm, .basic]
    }
  }

  func belongs(to origin: Origin) -> Bool { host == nil || host == origin.host }

  private var userAndPassword: String { "\(user):\(password)" }

  /// The value of the Authorization field (RFC 7617, with UTF-8).
  var basic: String { "Basic " + Base64.encode(Array(userAndPassword.utf8)) }

  /// The text that `basic` encodes, if the password is shorter than `length` bytes. The encoding of a longer password is
  /// recognized without the user name.
  package func basicCredentials(withPasswordShorterThan length: Int) -> String? {
    password.isEmpty || password.utf8.count >= length ? nil : userAndPassword
  }

  /// The name of the credentials in messages.
  private static let name = "the user and password of 'auth'"

  /// A field in place of the credentials, so that the guard of origins decides about them before they are sent.
  var placeholder: TransferRequest.HeaderField {
    .init(
      name: "Authorization", value: "", sensitivity: .init(owner, values: [Self.name], role: .credentials))
  }
}

extension HTTPAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The schemes of challenges, by their names in lowercase.
enum AuthenticationScheme: String {
  case basic, digest, ntlm, negotiate
}

/// How ferry responds to a server's authentication challenges (RFC 9110, section 11).
package enum RequestAuth: Hashable, Codable, Sendable {
  /// `auth: none`: the session's credentials are omitted.
  case off
  case credentials(HTTPCredentials)

  /// Whether the credentials are those of a netrc file.
  var hasNetrc: Bool {
    switch self {
    case .off: false
    case .credentials(let credentials): credentials.netrc != nil
    }
  }

  /// The texts with references.
  package var templates: [Template] {
    switch self {
    case .off: []
    case .credentials(let credentials): [credentials.user, credentials.password].compactMap(\.self)
    }
  }
}

/// A user name and password, and the authentication scheme in which they are sent.
package struct HTTPCredentials: Hashable, Codable, Sendable {
  package enum Scheme: String, Codable, Sendable, CaseIterable {
    case basic
    case digest
    case ntlm
    case negotiate
    /// The strongest of Digest, NTLM and Basic that the server offers.
    case any
  }

  package var scheme = Scheme.any
  /// `nil` if a netrc file contains the user, or with `negotiate`.
  package var user: Template?
  package var password: Template?
  /// The path of a netrc file; `nil` if the manifest contains the user.
  package var netrc: String?
  /// Whether Basic credentials are sent without a challenge.
  package var isPreemptive = false

  package init() {}
}

extension Manifest {
  /// The netrc files of its sessions and requests, by their paths.
  package var netrcFiles: Set<String> {
    let all = sessions.compactMap(\.auth) + sessionRequests.compactMap(\.request.auth)
    return Set(
      all.compactMap { auth in
        switch auth {
        case .off: nil
        case .credentials(let credentials): credentials.netrc
        }
      })
  }
}

import FerryPlan

/// The authentication schemes that origins require, as learned from their challenges. Later requests to an
/// origin carry their credentials at once (RFC 7617, section 2.2; RFC 7616, section 3.3).
struct AuthenticationCache {
  /// The maximum number of entries. Servers determine the number of origins.
  private static let capacity = 1_000

  struct Key: Hashable {
    var origin: Origin
    var authentication: HTTPAuthentication
  }

  enum Way: Equatable {
    case basic
    case digest(DigestChallenge)
    /// libcurl performs the handshake, which authenticates a connection.
    case connection(ConnectionAuthentication)
  }

  private var ways: [Key: Way] = [:]

  subscript(key: Key) -> Way? {
    get { ways[key] }
    set {
      if newValue != nil, ways[key] == nil, ways.count >= Self.capacity { ways.removeAll() }
      ways[key] = newValue
    }
  }
}

/// The schemes that authenticate a connection instead of a request.
enum ConnectionAuthentication: Equatable {
  case ntlm, negotiate
}

extension AuthenticationCache.Way {
  /// The way in which ferry can respond to a challenge; `nil` if none of the challenges is supported.
  init?(_ challenges: [AuthenticationChallenge], for authentication: HTTPAuthentication) {
    for scheme in authentication.schemes {
      // A server lists its preferred algorithm first (RFC 7616, section 3.7).
      for challenge in challenges where challenge.scheme == scheme.rawValue {
        switch scheme {
        case .basic: self = .basic
        case .digest:
          guard let digest = DigestChallenge(challenge) else { continue }
          self = .digest(digest)
        case .ntlm: self = .connection(.ntlm)
        case .negotiate: self = .connection(.negotiate)
        }
        return
      }
    }
    return nil
  }
}

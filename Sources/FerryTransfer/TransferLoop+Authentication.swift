import CCurl
import FerryDigest
import FerryPlan

/// Responds to authentication challenges within a request.
extension TransferLoop {
  /// Adds to a hop the credentials that its origin is known to require.
  ///
  /// - Throws: `request` if libcurl or libcrypto does not provide what the scheme needs.
  func authenticate(_ hop: inout RedirectPolicy.Hop, _ request: TransferRequest) throws(TransportFailure) {
    (hop.authorization, hop.connectionAuthentication) = (nil, nil)
    guard let key = authenticationKey(hop, request) else { return }
    let authentication = key.authentication
    switch authentications[key] {
    case nil:
      if authentication.isPreemptive { hop.authorization = authentication.basic }
    case .basic: hop.authorization = authentication.basic
    case .connection(let scheme): hop.connectionAuthentication = scheme
    case .digest(var digest):
      guard let url = CurlURL(hop.sentURL(of: request)) else { return }
      let random = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
      guard
        let answer = digest.answer(
          user: authentication.user, password: authentication.password, method: hop.method,
          target: url.path + (url.query.map { "?\($0)" } ?? ""),
          clientNonce: random.map { String($0, radix: 16) }.joined())
      else {
        throw EasyHandle.malformed("the server's Digest challenge requires MD5, which is not available")
      }
      authentications[key] = .digest(digest)
      hop.authorization = answer
    }
  }

  /// The key of the credentials that may be sent to the hop's origin; `nil` if there are none.
  private func authenticationKey(
    _ hop: RedirectPolicy.Hop, _ request: TransferRequest
  ) -> AuthenticationCache.Key? {
    guard let authentication = request.authentication,
      hop.headers.contains(where: { $0.role == .credentials }), let origin = CurlURL(hop.url)?.origin,
      authentication.belongs(to: origin)
    else { return nil }
    return .init(origin: origin, authentication: authentication)
  }

  /// Called when a response with the status 401 is complete. Returns whether the request is to be sent again with
  /// credentials. The server has not executed it.
  func answersChallenge(_ handle: EasyHandle, _ exchange: Exchange) -> Bool {
    guard handle.head.status == 401, let key = authenticationKey(exchange.hop, exchange.request) else {
      return false
    }
    let challenges = AuthenticationChallenge.all(in: handle.head.fields)
    guard let way = AuthenticationCache.Way(challenges, for: key.authentication) else {
      authentications[key] = nil
      exchange.challengeProblem = Self.unsupported(challenges, key.authentication)
      return false
    }
    guard !Self.isRejection(of: exchange, way) else {
      authentications[key] = nil
      exchange.challengeProblem =
        exchange.handshakeHadSuccess
        ? "the server responded with success before the handshake of 'auth' was complete, and may have stored an "
          + "empty body"
        : "the server rejected the credentials of 'auth'"
          + (exchange.hop.connectionAuthentication == .negotiate
            ? ", or Kerberos provided no ticket for it" : "")
      return false
    }
    guard exchange.challengesAnswered < Self.mostAnswers else {
      exchange.challengeProblem = "the server responded to each attempt with another challenge"
      return false
    }
    authentications[key] = way
    exchange.challengesAnswered += 1
    return true
  }

  /// Whether a challenge rejects the credentials that the request carried. Credentials for an earlier Digest
  /// challenge may only be outdated.
  private static func isRejection(of exchange: Exchange, _ way: AuthenticationCache.Way) -> Bool {
    if exchange.hop.connectionAuthentication != nil { return true }
    guard let sent = exchange.hop.authorization else { return false }
    let wasBasic = sent.hasPrefix("Basic ")
    return switch way {
    case .basic: wasBasic
    case .digest(let digest): !wasBasic && !digest.isStale && exchange.challengesAnswered > 0
    case .connection: false
    }
  }

  /// The maximum number of challenges to which one request responds: a first challenge, and one with a new
  /// nonce.
  private static let mostAnswers = 2

  private static func unsupported(
    _ challenges: [AuthenticationChallenge], _ authentication: HTTPAuthentication
  ) -> String {
    guard !challenges.isEmpty else { return "the response contains no authentication challenge" }
    let names = challenges.prefix(8).map(\.shown)
    let offers = "the server offers \(names.joined(separator: ", ")), but "
    let known = authentication.schemes.map(\.rawValue)
    let unusable = known.filter { scheme in challenges.contains { $0.scheme == scheme } }
    return unusable.isEmpty
      ? offers + "'auth' in the manifest specifies \(known.joined(separator: ", "))"
      : offers + "its challenge for \(unusable.joined(separator: ", ")) is malformed or not supported"
  }
}

extension EasyHandle {
  /// Sets the credentials of a scheme that authenticates a connection.
  func set(_ scheme: ConnectionAuthentication, _ authentication: HTTPAuthentication) throws(TransportFailure)
  {
    let bit: UInt =
      switch scheme {
      case .ntlm: 1 << 3  // CURLAUTH_NTLM
      case .negotiate: 1 << 2  // CURLAUTH_NEGOTIATE
      }
    guard ferry_easy_set_long(curl, CURLOPT_HTTPAUTH, Int(bit)) == CURLE_OK else {
      throw Self.malformed("libcurl was built without the authentication scheme that the server requires")
    }
    ferry_easy_set_string(curl, CURLOPT_USERNAME, authentication.user)
    ferry_easy_set_string(curl, CURLOPT_PASSWORD, authentication.password)
    // libcurl would also use the authenticated connection for requests with other credentials, or none. It does not do so
    // for NTLM.
    if scheme == .negotiate { ferry_easy_set_long(curl, CURLOPT_FORBID_REUSE, 1) }
    // These schemes authenticate a connection, which HTTP/2 shares between requests.
    ferry_easy_set_long(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
  }
}

/// A fault that affects one request.
package enum FaultKind: Hashable, Sendable {
  case refused
  case handshakeFails
  /// The request reached the server, but the server did nothing.
  case timesOut
  /// The connection fails after part of the body has been transferred.
  case cut(percent: Int)
  /// The server acts, but the response is lost.
  case answerLost
  /// A gateway times out, before or after the server has acted.
  case gatewayTimesOut(hasActed: Bool)
  case busy
  case tooMany(retryAfterSeconds: Int)
  case tokenRefused
  case forbidden
  /// The upload ID has just expired.
  case idEnds
  /// The server redirects with a 303, after it has acted or instead of acting.
  case seeOther(hasActed: Bool)
  /// The server redirects with a 307, after it has acted or instead of acting, to a server that refuses the
  /// connection.
  case redirectRefused(hasActed: Bool)
  /// The server responds with an invalid status, whether or not it has acted.
  case invalidStatus(hasActed: Bool)
  /// The server has lost a part of the file's bytes that it had stored.
  case losesBytes
  /// The request takes this many more seconds.
  case slow(seconds: Int)

  static func random(_ random: inout RandomSource) -> FaultKind {
    switch random.roll(28) {
    case 0, 1, 2: .refused
    case 3: .handshakeFails
    case 4, 5: .timesOut
    case 6, 7, 8: .cut(percent: random.roll(101))
    case 9, 10, 11, 12: .answerLost
    case 13, 14: .gatewayTimesOut(hasActed: random.once(in: 2))
    case 15: .busy
    case 16: .tooMany(retryAfterSeconds: random.roll(1...4000))
    case 17, 18: .tokenRefused
    case 19: .forbidden
    case 20, 21: .idEnds
    case 22: .seeOther(hasActed: random.once(in: 2))
    case 23: .redirectRefused(hasActed: random.once(in: 2))
    case 24: .invalidStatus(hasActed: random.once(in: 2))
    case 25: .losesBytes
    default: .slow(seconds: random.roll(1...100))
    }
  }
}

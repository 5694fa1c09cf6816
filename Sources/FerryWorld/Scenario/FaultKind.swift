/// What goes wrong with one request.
package enum FaultKind: Hashable, Sendable {
  case refused
  case handshakeFails
  /// It reached the server, which did nothing.
  case timesOut
  /// Part of the body moves, and the connection breaks.
  case cut(percent: Int)
  /// The server acts, and the answer does not arrive.
  case answerLost
  /// A gateway gives up, before or after the server acted.
  case gatewayTimesOut(hasActed: Bool)
  case busy
  case tooMany(retryAfterSeconds: Int)
  case tokenRefused
  case forbidden
  /// The upload ID has just ended.
  case idEnds
  /// The server leads elsewhere with a 303, after it acted or instead.
  case seeOther(hasActed: Bool)
  /// The server redirects it with a 307, after it acted or instead, to another that refuses the connection.
  case redirectRefused(hasActed: Bool)
  /// The server responds with a status that does not exist, whether it acted or not.
  case invalidStatus(hasActed: Bool)
  /// It takes so much longer.
  case slow(seconds: Int)

  static func random(_ random: inout RandomSource) -> FaultKind {
    switch random.roll(27) {
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
    default: .slow(seconds: random.roll(1...100))
    }
  }
}

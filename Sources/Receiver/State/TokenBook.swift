import Foundation

/// The access tokens that were given out.
struct TokenBook {
  private var expiries: [String: Date] = [:]
  /// How many were given out.
  private(set) var issued = 0

  mutating func issue(_ token: String, until expiry: Date, at now: Date) {
    issued += 1
    // Now and then the dead are cleared away, so that a long run does not grow.
    if issued.isMultiple(of: 1024) { expiries = expiries.filter { $0.value > now } }
    expiries[token] = expiry
  }

  /// Whether a token was given out and has not expired.
  func accepts(_ token: String, at now: Date) -> Bool {
    expiries[token].map { now < $0 } ?? false
  }
}

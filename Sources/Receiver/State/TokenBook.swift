import Foundation

/// The issued access tokens.
struct TokenBook {
  private var expiries: [String: Date] = [:]
  /// The number of issued tokens.
  private(set) var issued = 0

  mutating func issue(_ token: String, until expiry: Date, at now: Date) {
    issued += 1
    // Expired tokens are removed periodically, so that memory does not grow in a long run.
    if issued.isMultiple(of: 1024) { expiries = expiries.filter { $0.value > now } }
    expiries[token] = expiry
  }

  /// Whether a token was issued and has not expired.
  func accepts(_ token: String, at now: Date) -> Bool {
    expiries[token].map { now < $0 } ?? false
  }
}

import FerryJournal
import FerryManifest
import FerryPlan

/// The refresh tokens that servers have issued in place of those in the manifests, and their journal, `ferry.db`.
///
/// A new refresh token is on disk before the access token that arrived with it is used: the server may reject the old one
/// from then on.
struct RefreshTokens {
  let history: RunHistory
  let clock: LaunchClock

  /// The refresh token to send: the one that the server issued last, or that of the manifest.
  func current(_ chain: RefreshChain) throws(JournalError) -> SensitiveValue {
    try history.refreshToken(chain: chain.id).map { SensitiveValue($0) } ?? chain.first
  }

  func keep(
    _ token: SensitiveValue, _ chain: RefreshChain, manifest: String, node: String
  ) throws(JournalError) {
    try history.keep(
      refreshToken: token.revealed, chain: chain.id, manifest: manifest, token: node, at: clock.now)
  }
}

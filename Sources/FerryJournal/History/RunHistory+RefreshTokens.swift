import FerryPlan
import GRDB

/// The refresh tokens (RFC 6749, section 6) that servers have issued in place of those in manifests.
extension RunHistory {
  /// The maximum number of refresh tokens that are kept.
  package static let mostRefreshTokens = 1_000

  /// The refresh token that the server issued last; `nil` if it has not replaced the one in the manifest.
  ///
  /// - Parameter chain: identifies the refresh token in the manifest.
  package func refreshToken(chain: String) throws(JournalError) -> String? {
    try read { db in
      try db.first(
        "SELECT chain, value FROM refresh_token WHERE chain = ?", [chain], of: "refresh_token", in: self.path
      ) { try $0.value("value", as: String.self) }
    }
  }

  /// Records a refresh token that the server has issued. The change is synced when this method returns.
  ///
  /// If there are too many refresh tokens, the oldest ones are removed.
  ///
  /// - Parameters:
  ///   - chain: identifies the refresh token in the manifest.
  ///   - token: the name of the manifest's token, for people.
  package func keep(
    refreshToken: String, chain: String, manifest: String, token: String, at now: Instant
  ) throws(JournalError) {
    try write { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO refresh_token (chain, manifest, token, value, issued_at)
          VALUES (?, ?, ?, ?, ?)
          """,
        arguments: [chain, manifest, token, refreshToken, now.nanoseconds])
      try db.execute(
        sql: """
          DELETE FROM refresh_token WHERE chain NOT IN
          (SELECT chain FROM refresh_token ORDER BY issued_at DESC, chain LIMIT \(Self.mostRefreshTokens))
          """)
    }
  }
}

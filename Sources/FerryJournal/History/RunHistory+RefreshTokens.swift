import FerryPlan
import GRDB

/// A refresh token that a server has issued, without its value, which is secret.
package struct IssuedRefreshToken: Hashable, Sendable {
  /// Identifies the replaced refresh token, which is in the manifest.
  package var chain: String
  /// The names of the last manifest and token that used it.
  package var manifest: String
  package var token: String
  package var issuedAt: Instant
}

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

  /// All refresh tokens that servers have issued, in the order of their manifests and tokens.
  package var issuedRefreshTokens: [IssuedRefreshToken] {
    get throws(JournalError) {
      try read { db in
        try db.rows(
          "SELECT chain, manifest, token, issued_at FROM refresh_token ORDER BY manifest, token, chain",
          of: "refresh_token", in: self.path
        ) { row in
          IssuedRefreshToken(
            chain: try row.value("chain"), manifest: try row.value("manifest"),
            token: try row.value("token"),
            issuedAt: Instant(nanoseconds: try row.value("issued_at", as: Int64.self)))
        }
      }
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

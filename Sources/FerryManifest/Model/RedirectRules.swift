/// How redirects are followed, and what becomes of a sensitive request that would go to another origin.
package struct RedirectRules: Hashable, Codable, Sendable {
  package enum AcrossOrigins: String, Codable, Sendable, CaseIterable {
    /// It fails.
    case refuse
    /// It goes there without its sensitive header fields; with a sensitive URL or body it fails.
    case strip
    /// It goes there as it is.
    case follow
  }

  /// How many are followed; with 0 the first one is the response. Default 10.
  package var limit: Int
  /// Default refuse.
  package var acrossOrigins: AcrossOrigins

  package init(limit: Int = 10, acrossOrigins: AcrossOrigins = .refuse) {
    self.limit = limit
    self.acrossOrigins = acrossOrigins
  }
}

/// The handling of redirects, including sensitive requests that would be redirected to a different origin.
package struct RedirectRules: Hashable, Codable, Sendable {
  package enum AcrossOrigins: String, Codable, Sendable, CaseIterable {
    /// The request fails.
    case refuse
    /// The request is sent without its sensitive header fields; if its URL or body is sensitive, it fails.
    case strip
    /// The request is sent unchanged.
    case follow
  }

  /// The maximum number of redirects to follow; 10 by default. With 0, the first redirect is the final
  /// response.
  package var limit: Int
  /// The handling of sensitive requests that are redirected to another origin; `refuse` by default.
  package var acrossOrigins: AcrossOrigins
  /// The origins to which redirects, responses and lists may lead, in addition to those of the manifest; `nil` for any
  /// origin.
  package var origins: [OriginPattern]?

  package init(
    limit: Int = 10, acrossOrigins: AcrossOrigins = .refuse, origins: [OriginPattern]? = nil
  ) {
    self.limit = limit
    self.acrossOrigins = acrossOrigins
    self.origins = origins
  }
}

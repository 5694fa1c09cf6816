/// Limits the number of path components that are looked up for the links, and for the `..` of paths, of one listing.
///
/// A link may lead through thousands of folders, and any user who may write to a folder of the root can create many such
/// links. A path of a list may contain hundreds of `..`, each of which needs a look at the folders before it. The limit
/// applies only to what a path exceeds a usual number of components by, so that other paths are looked up even if the
/// budget has been used up.
package struct LookupBudget {
  /// The maximum number of components looked up for one path: 40 links of 4,095 bytes could have 80,000 components.
  package static let pathLimit = 4096
  /// The number of components of a path that do not count toward the budget.
  package static let freeComponents = 64
  /// The maximum number of other components in one listing. They are looked up in a few seconds.
  package static let components = 1 << 20

  private var remaining = Self.components

  package init() {}

  /// The maximum number of components of the next path.
  package var limit: Int { min(Self.pathLimit, Self.freeComponents + remaining) }

  /// - Parameter count: the number of components that were looked up for a path.
  package mutating func spend(_ count: Int) {
    remaining -= min(remaining, max(0, count - Self.freeComponents))
  }

  /// The reason why a link is not followed, for messages.
  package static let refusal =
    "it leads through too many folders and links: ferry looks up at most \(pathLimit) names for one path and, in one "
    + "listing, at most \(components) names for all paths with more than \(freeComponents)"
}

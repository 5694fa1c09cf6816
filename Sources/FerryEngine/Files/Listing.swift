import FerryPlan

/// The regular files that a selection takes.
package struct Listing: Sendable {
  /// In the order of the paths' bytes, each once.
  package var files: FileColumns
  package var problems: [ListingProblem]
  /// Globs of `include` that no file met, by their places in the list.
  package var unmatched: [Int] = []
}

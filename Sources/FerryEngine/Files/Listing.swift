import FerryPlan

/// The regular files that a selection takes.
package struct Listing: Sendable {
  /// In the order of the paths' bytes, each once.
  package var files: FileColumns
  package var problems: [ListingProblem]
  /// Globs of `include` that no file met, by their places in the list.
  package var unmatched: [Int] = []
}

extension Listing {
  /// Takes in the files of another listing; of one that both have, what this one says stays.
  mutating func merge(_ other: Listing) {
    problems += other.problems
    var merged = FileColumns()
    var index = 0
    func take(_ columns: FileColumns, _ item: Int) { merged.append(item, of: columns) }
    for item in 0..<files.count {
      let path = files.path(item)
      while index < other.files.count, other.files.path(index).lexicographicallyPrecedes(path) {
        take(other.files, index)
        index += 1
      }
      if index < other.files.count, other.files.path(index).elementsEqual(path) { index += 1 }
      take(files, item)
    }
    while index < other.files.count {
      take(other.files, index)
      index += 1
    }
    files = merged
  }
}

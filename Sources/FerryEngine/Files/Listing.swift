import FerryPlan

/// The regular files of a selection.
package struct Listing: Sendable {
  /// In the order of the paths' bytes, without duplicates.
  package var files = FileColumns()
  package var problems = ListingProblems()
  /// Globs of `include` that matched no file, as positions in the list.
  package var unmatched: [Int] = []
}

extension Listing {
  /// Adds other files in the order of their paths' bytes. If both have a file, this listing's entry remains.
  mutating func merge(_ other: FileColumns) {
    var merged = FileColumns()
    var index = 0
    func take(_ columns: FileColumns, _ item: Int) { merged.append(item, of: columns) }
    for item in 0..<files.count {
      let path = files.path(item)
      while index < other.count, other.path(index).lexicographicallyPrecedes(path) {
        take(other, index)
        index += 1
      }
      if index < other.count, other.path(index).elementsEqual(path) { index += 1 }
      take(files, item)
    }
    while index < other.count {
      take(other, index)
      index += 1
    }
    files = merged
  }
}

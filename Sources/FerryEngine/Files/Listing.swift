import FerryPlan

/// The regular files of a selection.
package struct Listing: Sendable {
  /// The files in byte order of their paths, without duplicates.
  package var files = FileColumns()
  package var problems = ListingProblems()
  /// The positions in `include` of the globs that matched no file.
  package var unmatched: [Int] = []
}

extension Listing {
  /// Adds other files, which are in byte order of their paths. If both listings contain a file, this
  /// listing's entry is kept.
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

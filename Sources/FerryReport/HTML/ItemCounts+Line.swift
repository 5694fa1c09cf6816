import FerryPlan

extension ItemCounts {
  /// The counts that are not zero.
  var line: JSONLine {
    var line = JSONLine()
    for (key, count) in [
      ("done", done), ("unchanged", unchanged), ("failed", failed), ("ambiguous", ambiguous),
      ("cancelled", cancelled), ("waiting", waiting), ("skipped", skipped ?? 0),
    ] where count > 0 {
      line.add(key, Int64(count))
    }
    return line
  }
}

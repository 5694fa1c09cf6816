import FerryPlan

extension ItemCounts {
  /// The counts that are not zero.
  var line: JSONLine {
    var line = JSONLine()
    let counts: [(StaticString, Int)] = [
      ("done", done), ("unchanged", unchanged), ("failed", failed), ("ambiguous", ambiguous),
      ("cancelled", cancelled), ("waiting", waiting), ("skipped", skipped ?? 0),
    ]
    for (key, count) in counts where count > 0 { line.add(key, Int64(count)) }
    return line
  }
}

import FerryPlan

/// A row of the timeline.
struct HTMLLane {
  var name: String
  var spans: [RunTimeline.Span]
  /// Whether the row shows a simulation, above the row of the run.
  var isPlanned = false

  var line: JSONLine {
    var line = JSONLine()
    line.add("name", name)
    if isPlanned { line.add("planned", isSet: true) }
    line.add("spans", arrays: spans.map { [.text($0.activity.rawValue), .number($0.from), .number($0.to)] })
    return line
  }
}

import FerryPlan

/// A row of the timeline.
struct HTMLLane {
  var name: String
  var spans: [RunTimeline.Span]

  var line: JSONLine {
    var line = JSONLine()
    line.add("name", name)
    line.add("spans", arrays: spans.map { [.text($0.activity.rawValue), .number($0.from), .number($0.to)] })
    return line
  }
}

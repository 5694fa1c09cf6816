extension ManifestDecoder {
  /// Checks that of two bounds of a mapping the lower is not above the upper.
  mutating func checkBounds(
    _ lower: Duration, _ lowerKey: String, _ upper: Duration, _ upperKey: String, in node: YAMLNode
  ) {
    guard lower > upper, let place = node[lowerKey] ?? node[upperKey] else { return }
    let other = node[lowerKey] == nil ? nil : node[upperKey]
    let longest = Quantity.text(upper.milliseconds, units: Quantity.durations)
    report(
      .contradictoryBounds, at: place.location, "'\(lowerKey)' is longer than '\(upperKey)'",
      help: "'\(upperKey)' bounds every wait, the first one too"
        + (other == nil && node[upperKey] == nil ? "; it is \(longest) where it is not given" : ""),
      notes: other.map { [.init("'\(upperKey)' is here", at: $0.location)] } ?? [])
  }
}

extension ManifestDecoder {
  /// Checks that the lower bound in a mapping is not above the upper bound.
  mutating func checkBounds(
    _ lower: Duration, _ lowerKey: String, _ upper: Duration, _ upperKey: String, in node: YAMLNode
  ) {
    guard lower > upper, let place = node[lowerKey] ?? node[upperKey] else { return }
    // A bound that could not be read has its default value here, which need not fit the other bound.
    let given = [node[lowerKey], node[upperKey]].compactMap { $0?.location }
    guard !diagnostics.contains(where: { $0.severity == .error && given.contains($0.location) }) else {
      return
    }
    let other = node[lowerKey] == nil ? nil : node[upperKey]
    func text(_ duration: Duration) -> String {
      Quantity.text(duration.milliseconds, units: Quantity.durations)
    }
    let fallback =
      node[upperKey] == nil
      ? "; '\(upperKey)' is \(text(upper)) by default"
      : node[lowerKey] == nil ? "; '\(lowerKey)' is \(text(lower)) by default" : ""
    report(
      .contradictoryBounds, at: place.location, "'\(lowerKey)' is longer than '\(upperKey)'",
      help: "make '\(upperKey)' \(text(lower)) or more, or '\(lowerKey)' shorter" + fallback,
      notes: other.map { [.init("'\(upperKey)' is here", at: $0.location)] } ?? [])
  }
}

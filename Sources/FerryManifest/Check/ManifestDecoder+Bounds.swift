extension ManifestDecoder {
  /// Checks that the lower bound in a mapping is not above the upper bound.
  mutating func checkBounds(
    _ lower: Duration, _ lowerKey: String, _ upper: Duration, _ upperKey: String, in node: YAMLNode
  ) {
    guard lower > upper, let place = node[lowerKey] ?? node[upperKey] else { return }
    // If a bound could not be read, it has its default value here, which may contradict the other bound.
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
      help: "set '\(upperKey)' to \(text(lower)) or more, or shorten '\(lowerKey)'" + fallback,
      notes: other.map { [.init("'\(upperKey)' is set here", at: $0.location)] } ?? [])
  }
}

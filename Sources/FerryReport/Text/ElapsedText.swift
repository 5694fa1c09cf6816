/// Formats durations for display.
package enum ElapsedText {
  /// A duration with its two largest units: `1.5 s`, `3 min 5 s`, `2 h 4 min`, `3 d 1 h`.
  package static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e12 else { return "unlimited" }
    if seconds == 0 { return "0 s" }
    if seconds < 10 { return "\(Double(Int((max(0, seconds) * 10).rounded())) / 10) s" }
    let whole = Int(seconds.rounded())
    if whole < 60 { return "\(whole) s" }
    for (unit, name, lower, lowerName) in [
      (60, "min", 1, "s"), (3600, "h", 60, "min"), (86_400, "d", 3600, "h"),
    ]
    where whole < unit * (unit == 3600 ? 24 : unit == 60 ? 60 : Int.max / unit) {
      let rest = whole % unit / lower
      return rest == 0 ? "\(whole / unit) \(name)" : "\(whole / unit) \(name) \(rest) \(lowerName)"
    }
    return "\(whole) s"
  }
}

extension BandwidthLimit {
  private static let shape = ObjectSchema<Self>(
    "Bandwidth limit", doc: "A maximum transfer rate that can depend on the time of day.",
    keys: [
      Key(
        "limit", \.periods, .bandwidth, isRequired: true,
        doc: "The rate in bytes per second, or a timetable of rates by the time of day.",
        example: "\"08:00 1MB, 18:00 off\""),
      Key(
        "time_zone", \.timeZone, .timeZone,
        doc: "The time zone of the timetable: a name in the IANA time zone database.",
        example: "Europe/Berlin"),
    ],
    blank: { _, _ in Self(periods: []) },
    finish: { limit, node, decoder in
      guard limit.periods.count == 1, limit.timeZone != Self(periods: []).timeZone,
        let key = node.members?.first(where: { $0.key.value == "time_zone" })?.key
      else { return }
      decoder.warnOfIdleConnectionSetting(
        at: key.location, "the limit does not depend on the time of day",
        help: "remove it, or write a timetable such as \"08:00 1MB, 18:00 off\"", use: node.use)
    })

  /// A rate, a timetable, or a mapping with a time zone.
  static let kind: ValueKind<Self?> = {
    let text = ValueKind<[Period]>.bandwidth
    let object = ValueKind<Self>.object(shape)
    return ValueKind<Self?>(
      .either([text.form, object.form]),
      text: { limit in
        guard let limit else { return nil }
        return limit.timeZone == "UTC" ? text.text(limit.periods) : object.text(limit)
      },
      decode: { node, decoder in
        node.members == nil
          ? text.decode(node, &decoder).map { Self(periods: $0) } : object.decode(node, &decoder)
      })
  }()
}

extension ValueKind where Value == [BandwidthLimit.Period] {
  /// A size, or sizes and times of day, such as `08:00 1MB, 18:00 off`.
  static var bandwidth: Self {
    let text = ValueKind<String>.constant("rate or timetable")
    return Self(text.form, text: written) { node, decoder in
      guard let written = text.decode(node, &decoder) else { return nil }
      if let periods = periods(written) { return periods }
      decoder.reportOfValue(
        Problem(
          .malformedQuantity, "this is neither a rate in bytes per second nor a timetable of rates",
          help:
            "write a rate such as 2MB, or times of day in ascending order, each with its rate, such as \"08:00 1MB, 18:00 off\""
        ),
        at: node.location)
      return nil
    }
  }

  private static func written(_ periods: Value) -> String {
    func rate(_ period: BandwidthLimit.Period) -> String {
      period.bytesPerSecond.map { Quantity.text($0, units: Quantity.sizes) } ?? "off"
    }
    guard periods.count > 1 else { return periods.first.map(rate) ?? "" }
    return periods.map { period in
      let (hour, minute) = period.start.quotientAndRemainder(dividingBy: 60)
      return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute) \(rate(period))"
    }.joined(separator: ", ")
  }

  private static func periods(_ text: String) -> Value? {
    let entries = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.split(separator: " ").map(String.init)
    }
    if entries.count == 1, entries[0].count == 1, let rate = rate(entries[0][0]), rate != nil {
      return [.init(start: 0, bytesPerSecond: rate)]
    }
    var periods: Value = []
    for entry in entries {
      guard entry.count == 2, let start = minute(entry[0]), let rate = rate(entry[1]),
        periods.last.map({ $0.start < start }) ?? true
      else { return nil }
      periods.append(.init(start: start, bytesPerSecond: rate))
    }
    // A timetable with one entry would be a limit that does not depend on the time.
    return periods.count > 1 ? periods : nil
  }

  /// `.some(nil)` for `off`; `nil` for a mistake.
  private static func rate(_ text: String) -> Int64?? {
    if text == "off" { return .some(nil) }
    guard let bytes = try? Quantity(text, units: Quantity.sizes).amount, bytes > 0 else { return nil }
    return bytes
  }

  private static func minute(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}

extension ConditionTimeline {
  static let shape = ObjectSchema<Self>(
    "Timeline", doc: "The network and power that a machine has over time.",
    keys: [
      Key(
        "timeline", \.entries, .list(.object(Entry.shape), atLeastOne: true), isRequired: true,
        doc: "Entries with times of day or moments.", example: "[{ from: 08:00, network: wifi }]"),
      Key(
        "time_zone", \.timeZone, .timeZone, default: "the machine's",
        doc: "The time zone of times without an offset: a name of the IANA database.",
        example: "Europe/Berlin"),
    ],
    blank: { _, _ in Self() })
}

extension ConditionTimeline.Entry {
  static let shape = ObjectSchema<Self>(
    "Entry", doc: "The conditions from a moment on. Omitted keys keep their values.",
    keys: [
      Key(
        "from", \.from, .timelineMoment, isRequired: true,
        doc: "A time of day, on every day, or a moment.", example: "\"08:00\""),
      Key(
        "network", \.network, .choice(), default: "as before", doc: "The kind of network.", example: "wifi"),
      Key(
        "expensive", \.isExpensive, .boolean, default: "as before",
        doc: "Whether the network is metered.", example: "true"),
      Key(
        "power", \.power, .choice(), default: "as before", doc: "Where power comes from.", example: "battery"),
    ],
    blank: { _, _ in Self(from: "") })
}

extension ValueKind where Value == String {
  /// `08:00`, or a date and time in RFC 3339 format, whose offset may be omitted.
  fileprivate static var timelineMoment: Self {
    constant("time of day or moment").refused { text in
      let isTime = text.wholeMatch(of: /([01][0-9]|2[0-3]):[0-5][0-9]/) != nil
      let isMoment =
        text.wholeMatch(
          of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?/)
        != nil
      guard !isTime, !isMoment else { return nil }
      return Problem(
        .unknownWord, "\(text.quoted) is neither a time of day nor a moment",
        help: "write a time such as \"08:00\", or a moment such as 2026-12-24T18:00", showsValue: true)
    }
  }
}

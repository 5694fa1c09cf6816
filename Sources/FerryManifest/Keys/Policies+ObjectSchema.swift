extension Conditions {
  static let shape = ObjectSchema<Self>(
    "Conditions", doc: "Which network and power the machine has; `auto` is found out.",
    keys: [
      Key(
        "network", \.network, .choice(), doc: "The kind of network.",
        example: "wifi"),
      Key(
        "power", \.power, .choice(), doc: "Where power comes from.",
        example: "external"),
    ],
    blank: { _, _ in Self() })
}

extension Budgets {
  static let shape = ObjectSchema<Self>(
    "Budgets", doc: "How many bytes each kind of network may carry; one that is not named has no limit.",
    keys: [
      Key("wifi", \.wifi, .object(Budget.shape), default: "no limit", doc: "Of wireless networks."),
      Key("wired", \.wired, .object(Budget.shape), default: "no limit", doc: "Of wired networks."),
      Key("cellular", \.cellular, .object(Budget.shape), default: "no limit", doc: "Of cellular networks."),
    ],
    blank: { _, _ in Self() })
}

extension Budget {
  static let shape = ObjectSchema<Self>(
    "Budget",
    doc:
      "A number of bytes for each window of the calendar, as the sockets count them, for all of a user's processes.",
    keys: [
      Key("limit", \.limit, .size, isRequired: true, doc: "The most bytes of a window.", example: "5GB"),
      Key("per", \.per, .choice(), isRequired: true, doc: "The window.", example: "day"),
      Key(
        "cutoff", \.cutoff, .choice(),
        doc: """
          `cautious`: what would not fit is not begun. `soft`: what has begun may finish. `hard`: at the limit \
          everything stops, and offsets are kept.
          """,
        example: "soft"),
      Key(
        "time_zone", \.timeZone, .timeZone,
        doc: "Where the window's day begins: a name of the IANA database.",
        example: "Europe/Berlin"),
    ],
    blank: { _, _ in Self(limit: 0, per: .day) })
}

extension ResumeDelay {
  static let shape = ObjectSchema<Self>(
    "Resume delay", doc: "How long new transfers wait after a resume in the background.",
    keys: [
      Key(
        "policy", \.policy, .choice(),
        doc: """
          `before_start` (iOS 8 and later): a transfer that a resume creates starts no sooner than the period. \
          `after_completion` (iOS 7): what is finished is handled no sooner than the period.
          """,
        example: "before_start"),
      Key("initial", \.initial, .duration(), doc: "The first period.", example: "60s"),
      Key(
        "factor", \.factor, .number(1...100), doc: "What each resume multiplies the period with.",
        example: "2"),
      Key("max", \.max, .duration(), doc: "The longest period.", example: "6h"),
    ],
    blank: { _, profile in Self(profile) },
    finish: { delay, node, decoder in
      decoder.checkBounds(delay.initial, "initial", delay.max, "max", in: node)
    })
}

extension ExecutionWindow {
  private static let bounds = ObjectSchema<Self>(
    "Execution window",
    doc: """
      How long requests of default sessions may go on in a launch, by its kind: one clock for the launch, however \
      many requests.
      """,
    keys: [
      Key(
        "foreground", \.foreground, .durationOrNone,
        doc: "After a hang-up (SIGHUP); before it a foreground launch has no end.", example: "180s"),
      Key("background", \.background, .durationOrNone, doc: "Of a background launch.", example: "30s"),
      Key("fetch", \.fetch, .durationOrNone, doc: "Of a launch to fetch.", example: "30s"),
      Key("event", \.event, .durationOrNone, doc: "Of a launch for an event.", example: "30s"),
      Key("continuous", \.continuous, .durationOrNone, doc: "Of a continuous launch.", example: "none"),
    ],
    blank: { _, profile in Self(profile) })

  /// `none`, or a mapping.
  static let kind = ValueKind<Self>.wordOr("none", meaning: Self(), .object(bounds))
}

extension Upload.After {
  private struct Destination {
    var moveTo: String

    static let shape = ObjectSchema<Self>(
      "After", doc: "What becomes of a file once it is delivered.",
      keys: [
        Key(
          "move_to", \.moveTo, .folderInside, isRequired: true,
          doc: "A folder relative to `root`; what is in it is never listed. Nothing is overwritten.",
          example: "sent/")
      ],
      blank: { _, _ in Self(moveTo: "") })
  }

  private enum Word: String, CaseIterable, Sendable { case keep, delete }

  /// `keep`, `delete`, or a mapping.
  static let kind: ValueKind<Self> = {
    let word = ValueKind<Word>.choice()
    let destination = ValueKind<Destination>.object(Destination.shape)
    return ValueKind(
      .either([word.form, destination.form]),
      text: { after in
        switch after {
        case .keep: "keep"
        case .delete: "delete"
        case .moveTo(let folder): "{ move_to: \(folder) }"
        }
      },
      decode: { node, decoder in
        guard node.members == nil else {
          return destination.decode(node, &decoder).map { .moveTo($0.moveTo) }
        }
        guard node.scalar != nil, !node.isNull else {
          decoder.mismatch(node, wanted: "keep, delete or { move_to: … }")
          return nil
        }
        return word.decode(node, &decoder).map { $0 == .keep ? .keep : .delete }
      })
  }()
}

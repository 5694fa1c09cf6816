extension Conditions {
  static let shape = ObjectSchema<Self>(
    "Conditions", doc: "The machine's network and power; `auto` detects them.",
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
    "Budgets",
    doc: """
      How many bytes each kind of network, or all networks together, may carry. A kind that is not named has no \
      limit.
      """,
    keys: [
      Key(
        "wifi", \.wifi, .object(Budget.shape), default: "no limit", doc: "The budget of wireless networks."),
      Key("wired", \.wired, .object(Budget.shape), default: "no limit", doc: "The budget of wired networks."),
      Key(
        "cellular", \.cellular, .object(Budget.shape), default: "no limit",
        doc: "The budget of cellular networks."),
      Key(
        "any", \.any, .object(Budget.shape), default: "no limit",
        doc: "The budget of all networks together. It applies in addition to the budget of each network."),
    ],
    blank: { _, _ in Self() })
}

extension Budget {
  static let shape = ObjectSchema<Self>(
    "Budget",
    doc:
      "A number of bytes per calendar window, counted by the sockets, for all processes of a user.",
    keys: [
      Key(
        "limit", \.limit, .size, isRequired: true, doc: "The maximum number of bytes per window.",
        example: "5GB"),
      Key("per", \.per, .choice(), isRequired: true, doc: "The window.", example: "day"),
      Key(
        "cutoff", \.cutoff, .choice(),
        doc: """
          `cautious`: a transfer that would exceed the limit does not start. `soft`: a transfer that has started may \
          complete. `hard`: at the limit all transfers stop, and their offsets are kept.
          """,
        example: "soft"),
      Key(
        "time_zone", \.timeZone, .timeZone,
        doc: "The time zone in which the window begins: a name of the IANA database.",
        example: "Europe/Berlin"),
      Key(
        "binds", \.binds, .choice(),
        doc: """
          The sessions that the budget limits: `all`, or only `discretionary` ones. The bytes of every session count \
          against it.
          """,
        example: "discretionary"),
    ],
    blank: { _, profile in Self(limit: 0, per: .day, binds: Binding(profile)) })
}

extension ResumeDelay {
  static let shape = ObjectSchema<Self>(
    "Resume delay", doc: "How long new transfers wait after a resume in the background.",
    keys: [
      Key(
        "policy", \.policy, .choice(),
        doc: """
          `before_start` (iOS 8 and later): a transfer that was created after a resume waits for the period before it \
          starts. `after_completion` (iOS 7): a completed transfer waits for the period before it is handled.
          """,
        example: "before_start"),
      Key("initial", \.initial, .duration(), doc: "The first period.", example: "60s"),
      Key(
        "factor", \.factor, .number(1...100), doc: "The factor by which each resume multiplies the period.",
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
      How long requests of default sessions may run in a launch, for each kind of launch. One clock covers the whole \
      launch, regardless of the number of requests.
      """,
    keys: [
      Key(
        "foreground", \.foreground, .durationOrNone,
        doc: "The time after a hang-up (SIGHUP). Before that, a foreground launch has no limit.",
        example: "180s"),
      Key(
        "background", \.background, .durationOrNone, doc: "The time of a background launch.", example: "30s"),
      Key("fetch", \.fetch, .durationOrNone, doc: "The time of a fetch launch.", example: "30s"),
      Key("event", \.event, .durationOrNone, doc: "The time of an event launch.", example: "30s"),
      Key(
        "continuous", \.continuous, .durationOrNone, doc: "The time of a continuous launch.", example: "none"),
    ],
    blank: { _, profile in Self(profile) })

  /// `none`, or a mapping.
  static let kind = ValueKind<Self>.wordOr("none", meaning: Self(), .object(bounds))
}

extension Upload.After {
  private struct Destination {
    var moveTo: String

    static let shape = ObjectSchema<Self>(
      "After", doc: "What happens to a file after its delivery.",
      keys: [
        Key(
          "move_to", \.moveTo, .folderInside, isRequired: true,
          doc: "A folder relative to `root`. Its files are never listed. Nothing is overwritten.",
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

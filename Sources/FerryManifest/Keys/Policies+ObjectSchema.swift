extension Conditions {
  static let shape = ObjectSchema<Self>(
    "Conditions", doc: "The machine's network and power; `auto` detects them.",
    keys: [
      Key(
        "network", \.network, .choice(), doc: "The kind of network.",
        example: "wifi"),
      Key(
        "power", \.power, .choice(), doc: "The source of power.",
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
        "wifi", \.wifi, .object(Budget.shape), default: "no limit", doc: "The budget for wireless networks."),
      Key(
        "wired", \.wired, .object(Budget.shape), default: "no limit", doc: "The budget for wired networks."),
      Key(
        "cellular", \.cellular, .object(Budget.shape), default: "no limit",
        doc: "The budget for cellular networks."),
      Key(
        "any", \.any, .object(Budget.shape), default: "no limit",
        doc: "The budget for all networks together. It applies in addition to the budget for each network."),
    ],
    blank: { _, _ in Self() })
}

extension Budget {
  static let shape = ObjectSchema<Self>(
    "Budget",
    doc:
      "A maximum number of bytes per calendar window. All bytes sent and received on sockets count, summed over all processes of the user.",
    keys: [
      Key(
        "limit", \.limit, .size, isRequired: true, doc: "The maximum number of bytes per window.",
        example: "5GB"),
      Key("per", \.per, .choice(), isRequired: true, doc: "The length of the window.", example: "day"),
      Key(
        "cutoff", \.cutoff, .choice(),
        doc: """
          `cautious`: a transfer that would exceed the limit does not start. `soft`: a transfer that has started may \
          complete. `hard`: at the limit, all transfers stop and wait for the next window.
          """,
        example: "soft"),
      Key(
        "time_zone", \.timeZone, .timeZone,
        doc: "The time zone that determines the start of the window: a name in the IANA time zone database.",
        example: "Europe/Berlin"),
      Key(
        "binds", \.binds, .choice(),
        doc: """
          The sessions that the budget limits: `all`, or only `discretionary` ones. The bytes of every session count \
          against the budget.
          """,
        example: "discretionary"),
    ],
    blank: { _, profile in Self(limit: 0, per: .day, binds: Binding(profile)) })
}

extension ResumeDelay {
  static let shape = ObjectSchema<Self>(
    "Resume delay", doc: "The delay of new transfers after a resume in the background.",
    keys: [
      Key(
        "policy", \.policy, .choice(),
        doc: """
          `before_start` (iOS 8 and later): a transfer that is created after a resume waits for the delay before it \
          starts. `after_completion` (iOS 7): a completed transfer waits for the delay before it is handled.
          """,
        example: "before_start"),
      Key("initial", \.initial, .duration(), doc: "The first delay.", example: "60s"),
      Key(
        "factor", \.factor, .number(1...100), doc: "The factor by which each resume multiplies the delay.",
        example: "2"),
      Key("max", \.max, .duration(), doc: "The maximum delay.", example: "6h"),
      Key(
        "reset", \.reset, .choice(),
        doc: """
          The event that resets the delay to `initial`. `foreground`: only a foreground launch, as in URLSession. `idle`: a foreground launch, or \
          more than one further period without a resume.
          """,
        example: "foreground"),
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
      The time limit for requests of default sessions, for each kind of launch. It applies to the launch as a whole, \
      regardless of the number of requests.
      """,
    keys: [
      Key(
        "foreground", \.foreground, .durationOrNone,
        doc:
          "The time limit of a foreground launch, counted from a hangup (SIGHUP). Before a hangup, there is no limit.",
        example: "180s"),
      Key(
        "background", \.background, .durationOrNone, doc: "The time limit of a background launch.",
        example: "30s"),
      Key("fetch", \.fetch, .durationOrNone, doc: "The time limit of a fetch launch.", example: "30s"),
      Key("event", \.event, .durationOrNone, doc: "The time limit of an event launch.", example: "30s"),
      Key(
        "continuous", \.continuous, .durationOrNone, doc: "The time limit of a continuous launch.",
        example: "none"),
      Key(
        "resume", \.resume, .durationOrNone,
        doc: """
          The length of the window that each resume opens in a launch with a window, even after the launch's own window \
          has ended. `none`: a resume opens no window.
          """,
        example: "30s"),
      Key(
        "on_expiry", \.onExpiry, .list(.constant("command word"), atLeastOne: true), default: "none",
        doc: "A command and its arguments, which ferry starts when the window of a launch ends.",
        example: "[./window-ended]"),
    ],
    blank: { _, profile in Self(profile) })

  /// `none`, or a mapping.
  static let kind = ValueKind<Self>.wordOr("none", meaning: Self(), .object(bounds))
}

extension Upload.After {
  private struct Destination {
    var moveTo: String

    static let shape = ObjectSchema<Self>(
      "After", doc: "The treatment of a file after its delivery.",
      keys: [
        Key(
          "move_to", \.moveTo, .folderInside, isRequired: true,
          doc:
            "The destination folder, relative to `root`. Files in it are never listed, and existing files are not overwritten.",
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

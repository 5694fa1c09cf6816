extension Fetch {
  static let shape = Shape<Fetch>(
    "Fetch", doc: "A download, repeated no sooner than an interval.",
    keys: [
      Key(
        "session", \.session, .name(of: .session), isRequired: true, doc: "The session that carries it.",
        example: "quick"),
      Key(
        "token", \.token, .name(of: .token), default: "none", doc: "The token that its request carries.",
        example: "login"),
      Key(
        "needs", \.needs, .list(.name(of: .needs)), default: "none",
        doc: "The uploads, fetches and requests that come before it.", example: "[photos]"),
      Key(
        "interval", \.interval, .interval,
        doc: "How often it is fetched: in every run, or no sooner than a minimum.",
        example: "{ minimum: 15m }"),
      Key("request", \.request, .object(RequestTemplate.shape), isRequired: true, doc: "What it sends."),
      Key(
        "expect", \.expect, .object(Expectation.shape), default: "any 2xx",
        doc: "Which answers count as success."),
      Key(
        "save_to", \.saveTo, .pathInside, isRequired: true,
        doc: "The file that the body replaces, whole or not at all; relative to the manifest's folder.",
        example: "catalog.json"),
      Key(
        "retry", \.retry, .object(RetryPolicy.shape), default: "as its keys",
        doc: "When a failed request is tried again."),
    ],
    blank: { name in
      Fetch(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])),
        saveTo: "")
    },
    place: { _, name in .fetch(name) })
}

/// `interval` as a mapping.
private struct IntervalBounds {
  var minimum: Duration

  static let shape = Shape<Self>(
    "Interval", doc: "How often a fetch is repeated.",
    keys: [
      Key(
        "minimum", \.minimum, .duration(), isRequired: true,
        doc: "Not before this long after the last that ended well.",
        example: "15m"),
      .notYet("maximum", doc: "No later than this long after the last that ended well."),
    ],
    blank: { _ in Self(minimum: .zero) })
}

extension ValueKind where Value == Fetch.Interval {
  fileprivate static var interval: Self {
    let bounds = ValueKind<IntervalBounds>.object(IntervalBounds.shape)
    let word = ValueForm.choice(["every_run"], notYet: ["never"])
    return Self(
      .either([word, bounds.form]),
      text: { if case .everyRun = $0 { "every_run" } else { nil } },
      decode: { node, decoder in
        guard node.scalar != nil else {
          guard node.members != nil else {
            decoder.mismatch(node, wanted: "every_run or { minimum: … }")
            return nil
          }
          return bounds.decode(node, &decoder).map { .minimum($0.minimum) }
        }
        switch decoder.constant(node, wanted: "every_run or { minimum: … }") {
        case nil: return nil
        case "every_run": return .everyRun
        case "never":
          decoder.report(
            .notBuilt, at: node.location, "'interval: never' is not built yet",
            help: "this ferry knows every_run and { minimum: … }")
          return nil
        case .some:
          decoder.report(
            .unknownWord, at: node.location, "'interval' must be every_run or { minimum: … }",
            help: "write every_run, or a mapping such as { minimum: 15m }")
          return nil
        }
      })
  }
}

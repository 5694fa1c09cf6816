extension Fetch {
  static let shape = ObjectSchema<Fetch>(
    "Fetch", doc: "A download that is repeated at most once per interval.",
    keys: [
      .forEach,
      .session(\.session),
      .token(\.token),
      .needs(\.needs),
      Key(
        "interval", \.interval, .interval,
        doc:
          "How often to fetch: `every_run`, at most once per interval (`minimum`), or `never`, which disables the fetch.",
        example: "{ minimum: 15m }"),
      .request(\.request),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect, default: "a 200"),
      Key(
        "save_to", \.saveTo, .pathInside, isRequired: true,
        doc: "The file that the body replaces atomically; relative to the manifest's folder.",
        example: "catalog.json"),
      Key(
        "max_size", \.maxSize, .size, default: "no bound",
        doc:
          "The maximum number of bytes that are stored. A larger response fails with `answer_too_large`, and the old file is kept.",
        example: "50MB"),
      .checksum(\.request.checksum),
      .keepModified(\.keepsModified),
      .segments(\.segments),
      .retry(\.retry),
    ],
    blank: { name, _ in
      Fetch(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])),
        saveTo: "")
    },
    place: { _, name in .fetch(name) })
}

/// `interval` as a mapping.
private struct IntervalBounds {
  var minimum: Duration
  var maximum: Duration?

  static let shape = ObjectSchema<Self>(
    "Interval", doc: "The interval between two fetches.",
    keys: [
      Key(
        "minimum", \.minimum, .duration(), isRequired: true,
        doc: "The minimum time between two fetches, even after a failed one.",
        example: "15m"),
      Key(
        "maximum", \.maximum, .duration(), default: "the minimum",
        doc:
          "The maximum interval. Each response without new data doubles the interval; new data resets it to the minimum.",
        example: "6h"),
    ],
    blank: { _, _ in Self(minimum: .zero) },
    finish: { bounds, node, decoder in
      guard let maximum = bounds.maximum else { return }
      decoder.checkBounds(bounds.minimum, "minimum", maximum, "maximum", in: node)
    })
}

extension ValueKind where Value == Fetch.Interval {
  fileprivate enum Word: String, CaseIterable, Sendable {
    case everyRun = "every_run"
    case never
  }

  fileprivate static var interval: Self {
    let bounds = ValueKind<IntervalBounds>.object(IntervalBounds.shape)
    let word = ValueKind<Word>.choice()
    return Self(
      .either([word.form, bounds.form]),
      text: { interval in
        switch interval {
        case .everyRun: Word.everyRun.rawValue
        case .never: Word.never.rawValue
        case .minimum, .adaptive: nil
        }
      },
      decode: { node, decoder in
        guard node.members == nil else {
          return bounds.decode(node, &decoder).map { bounds in
            bounds.maximum.map { .adaptive(minimum: bounds.minimum, maximum: $0) } ?? .minimum(bounds.minimum)
          }
        }
        guard node.scalar != nil, !node.isNull else {
          decoder.mismatch(node, wanted: "every_run, never or { minimum: … }")
          return nil
        }
        if let text = node.scalar?.text, (try? Quantity(text, units: Quantity.durations)) != nil {
          decoder.report(
            .unknownWord, at: node.location,
            "'interval' must be every_run, never or { minimum: … }\(node.foundWord)",
            help: "write { minimum: \(text.clipped) }")
          return nil
        }
        return word.decode(node, &decoder).map { $0 == .never ? .never : .everyRun }
      })
  }
}

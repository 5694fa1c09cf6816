extension Upload {
  static let shape = Shape<Upload>(
    "Upload", doc: "A batch of files, and the steps each of them goes through.",
    keys: [
      Key(
        "session", \.session, .name(of: .session), isRequired: true,
        doc: "The session that carries the files.",
        example: "uploads"),
      Key(
        "token", \.token, .name(of: .token), default: "none", doc: "The token that its requests carry.",
        example: "login"),
      Key(
        "needs", \.needs, .list(.name(of: .needs)), default: "none",
        doc: "The uploads, fetches and requests that come before it.", example: "[catalog]"),
      Key("files", \.files, .object(FileSelection.shape), isRequired: true, doc: "Which files it takes."),
      Key(
        "deliver", \.deliver, .choice(),
        doc: "How often a file is sent: once for ever, when it has changed, or in every round.",
        example: "when_changed"),
      Key("priority", \.priority, .priority, doc: "Higher goes first: 0 to 1, or a word.", example: "high"),
      Key(
        "batch", \.batch, .object(Batch.shape), default: "no bounds",
        doc: "What bounds one hand-over of files."),
      Key("allocate", \.allocate, .object(Allocate.shape), default: "none", doc: "The upload-ID step."),
      Key("transfer", \.transfer, .object(Transfer.shape), isRequired: true, doc: "How the bytes are sent."),
      Key(
        "commit", \.commit, .object(Commit.shape), default: "none",
        doc: "The request that makes an upload count."),
      Key(
        "retry", \.retry, .object(RetryPolicy.shape), default: "as its keys",
        doc: "When a failed request is tried again."),
      .notYet("abandon", doc: "The request that releases an upload ID that will not be used."),
      .notYet("after", doc: "What becomes of a file that was sent."),
    ],
    blank: { name in
      Upload(
        name: name, session: Located("", at: name.location),
        files: FileSelection(root: ".", source: .globs(include: ["**"], exclude: [])),
        transfer: Transfer(request: RequestTemplate(url: Template([]))))
    },
    place: { _, name in .upload(name, nil) })
}

extension Upload.Batch {
  static let shape = Shape<Self>(
    "Batch", doc: "What bounds one hand-over of files.",
    keys: [
      Key(
        "max_items", \.maxItems, .integer(1...Int.max), default: "no bound", doc: "The most files.",
        example: "100"),
      Key("max_bytes", \.maxBytes, .size, default: "no bound", doc: "The most bytes.", example: "500MB"),
    ],
    blank: { _ in Self() })
}

extension Upload.Allocate {
  static let shape = Shape<Self>(
    "Allocate", doc: "The upload-ID step, taken as late as the queue allows.",
    keys: [
      Key(
        "session", \.session, .name(of: .session), default: "the upload's",
        doc: "The session of its request.",
        example: "quick"),
      .stepToken(\.token),
      Key(
        "request", \.request, .object(RequestTemplate.changingShape), isRequired: true, doc: "What it sends."),
      Key(
        "expect", \.expect, .object(Expectation.shape), default: "any 2xx",
        doc: "Which answers count as success."),
      Key(
        "capture", \.capture, .named(Capture.shape), default: "none",
        doc: "What it takes from the answer, for `${allocate.NAME}`.", example: "{ upload_id: { json: /id } }"
      ),
      Key(
        "valid_for", \.validFor, .duration(atLeast: .milliseconds(1)), default: "for ever",
        doc: "How long an ID may be used after its answer.", example: "1h"),
    ],
    blank: { _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.allocate) })
}

extension Upload.Transfer {
  static let shape = Shape<Self>(
    "Transfer", doc: "How the bytes of a file are sent.",
    keys: [
      Key(
        "protocol", \.protocol,
        .choice(notYet: ["multipart_form", "content_range", "tus", "resumable", "s3_multipart"]),
        doc: "One PUT or one POST, whose body is the file.", example: "put"),
      .stepToken(\.token),
      Key(
        "request", \.request, .object(RequestTemplate.transferShape), isRequired: true,
        doc: "What it sends; its body is the file."),
      Key(
        "expect", \.expect, .object(Expectation.shape), default: "any 2xx",
        doc: "Which answers count as success."),
      Key(
        "capture", \.capture, .named(Capture.shape), default: "none",
        doc:
          "What it takes from the answer, for `${transfer.NAME}`: a `Location` that changes at every step.",
        example: "{ location: { header: Location } }"),
    ],
    blank: { _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.transfer) },
    finish: { transfer, node, _ in
      guard node["request"]?["method"] == nil else { return }
      switch transfer.protocol {
      case .put: transfer.request.method = "PUT"
      case .post: transfer.request.method = "POST"
      }
    })
}

extension Upload.Commit {
  static let shape = Shape<Self>(
    "Commit", doc: "The request that makes an upload count.",
    keys: [
      Key(
        "session", \.session, .name(of: .session), default: "the upload's",
        doc: "The session of its request.",
        example: "quick"),
      .stepToken(\.token),
      Key(
        "request", \.request, .object(RequestTemplate.changingShape), isRequired: true, doc: "What it sends."),
      Key(
        "expect", \.expect, .object(Expectation.shape), default: "any 2xx",
        doc: "Which answers count as success."),
      Key(
        "already_done", \.alreadyDone,
        ValueKind<AlreadyDone>.object(AlreadyDone.shape).map(
          to: { $0.status }, from: { AlreadyDone(status: $0) }), default: "no such answer",
        doc: "The answer to a commit that was carried out before.", example: "{ status: [409] }"),
      .notYet("idempotency_key", doc: "A header that lets the server know a repeated commit."),
      .notYet("probe", doc: "A request that asks whether the commit was carried out."),
    ],
    blank: { _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.commit) })

  /// `already_done` as the manifest writes it.
  private struct AlreadyDone {
    var status: [Int]

    static let shape = Shape<Self>(
      "Already done", doc: "The answer to a commit that was carried out before.",
      keys: [
        Key(
          "status", \.status, .list(.status, atLeastOne: true), isRequired: true,
          doc: "The status codes of that answer.", example: "[409]")
      ],
      blank: { _ in Self(status: []) })
  }
}

extension Key {
  /// `token: none` of a step.
  fileprivate static func stepToken(
    _ path: WritableKeyPath<Object, Upload.StepToken> & Sendable
  ) -> Self {
    let kind = ValueKind<Upload.StepToken>(.choice(["none"], notYet: [])) { node, decoder in
      guard let text = decoder.constant(node, wanted: "none") else { return nil }
      if text == "none" { return Upload.StepToken.none }
      decoder.report(
        .stepToken, at: node.location, "'token' of a step can only be 'none'",
        help: "a step carries the upload's own token; name it there, with 'token: \(text.clipped)'")
      return nil
    }
    return Key(
      "token", path, kind, default: "the upload's",
      doc: "`none` leaves the upload's token out, as for a presigned URL on another host.", example: "none")
  }
}

extension ValueKind where Value == Double {
  /// A number from 0 to 1, or a word for one as URLSessionTask has them.
  fileprivate static var priority: Self {
    let number = ValueKind.number(0...1)
    let words = ["low": 0.25, "default": 0.5, "high": 0.75]
    let names = ["low", "default", "high"]
    return Self(.either([number.form, .choice(names, notYet: [])]), text: number.text) { node, decoder in
      guard node.scalar?.value == .string, let text = decoder.constant(node) else {
        return number.decode(node, &decoder)
      }
      if let value = words[text] { return value }
      decoder.report(
        .unknownWord, at: node.location, "'priority' must be a number from 0 to 1, or low, default or high",
        help: decoder.suggestion(for: text, among: names) ?? decoder.exampleHelp)
      return nil
    }
  }
}

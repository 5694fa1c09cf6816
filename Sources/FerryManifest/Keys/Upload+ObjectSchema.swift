extension Upload {
  static let shape = ObjectSchema<Upload>(
    "Upload", doc: "A batch of files, and the steps for each file.",
    keys: [
      .forEach,
      .session(\.session, example: "uploads"),
      .token(\.token),
      .needs(\.needs, example: "[catalog]"),
      Key("files", \.files, .object(FileSelection.shape), isRequired: true, doc: "The files to upload."),
      Key(
        "deliver", \.deliver, .choice(),
        doc: "When to send a file: once, again when it has changed, or in every round.",
        example: "when_changed"),
      Key(
        "compare", \.compare, .choice(),
        doc:
          "How to detect a changed file: by its size and modification time, or by its content, which ferry then reads in each run.",
        example: "content"),
      Key(
        "priority", \.priority, .priority,
        doc:
          "A number from 0 to 1, or `low`, `default` or `high`. Uploads with a higher priority are sent first.",
        example: "high"),
      Key(
        "batch", \.batch, .object(Batch.shape), default: "no bounds",
        doc: "The maximum number of files and bytes that are queued at once."),
      Key(
        "allocate", \.allocate, .object(Allocate.shape), default: "none",
        doc: "The step that requests an upload ID."),
      Key(
        "transfer", \.transfer, .object(Transfer.shape), isRequired: true,
        doc: "The step that sends the file."),
      Key(
        "commit", \.commit, .object(Commit.shape), default: "none",
        doc: "The request that completes an upload."),
      Key(
        "abandon", \.abandon, .object(Abandon.shape), default: "none",
        doc: "The request that releases an unused upload ID."),
      Key(
        "after", \.after, After.kind,
        doc: "The treatment of a file after its delivery.", example: "{ move_to: sent/ }"),
      .retry(\.retry),
    ],
    blank: { name, _ in
      Upload(
        name: name, session: Located("", at: name.location),
        files: FileSelection(root: ".", source: .globs(include: ["**"], exclude: [])),
        transfer: Transfer(request: RequestTemplate(url: Template([]))))
    },
    place: { _, name in .upload(name, nil) },
    finish: { upload, node, decoder in
      if upload.transfer.protocol == .contentRange, node["allocate"] == nil, let transfer = node["transfer"] {
        decoder.report(
          .missingStep, at: transfer["protocol"]?.location ?? transfer.location,
          "'protocol: content_range' sends the file to a session, but this upload has no 'allocate' step to create the session",
          help: "add 'allocate' with a capture of the session's URL, and refer to it in the transfer's 'url'")
      }
      if upload.transfer.protocol == .s3Multipart {
        for step in ["allocate", "commit", "abandon"] {
          guard let key = node.members?.first(where: { $0.key.value == step })?.key else { continue }
          decoder.report(
            .keyWithoutOther, at: key.location,
            "'protocol: s3_multipart' creates, completes and aborts the upload itself, so it cannot have '\(step)'",
            help: "remove '\(step)', or use another protocol")
        }
      }
      if upload.concatenatesParts { decoder.reportConcatenated(node) }
      if upload.transfer.protocol == .resumable {
        for step in ["allocate", "abandon"] {
          guard let key = node.members?.first(where: { $0.key.value == step })?.key else { continue }
          decoder.report(
            .excludingKeys, at: key.location,
            "'protocol: resumable' excludes '\(step)': the server assigns the upload, and ferry releases it",
            help: "remove '\(step)'")
        }
      }
      upload.places.include = node["files"]?["include"]?.elements?.map(\.location) ?? []
      upload.places.validFor = node["allocate"]?["valid_for"]?.location
    })
}

extension ManifestDecoder {
  /// Reports the keys that have no meaning if the parts of a file are partial uploads of tus.
  fileprivate mutating func reportConcatenated(_ node: YAMLNode) {
    let keys = [node.members, node["transfer"]?.members].compactMap(\.self).joined().map(\.key)
    for key in keys where ["commit", "capture"].contains(key.value) {
      report(
        .excludingKeys, at: key.location,
        "'parallel_parts' excludes '\(key.value)': the last request concatenates the parts",
        help: "remove '\(key.value)', or remove 'parallel_parts'")
    }
  }
}

extension Upload.Batch {
  static let shape = ObjectSchema<Self>(
    "Batch", doc: "The maximum number of files and bytes that are queued at once.",
    keys: [
      Key(
        "max_items", \.maxItems, .integer(1...Int.max), default: "no bound",
        doc: "The maximum number of files.",
        example: "100"),
      Key(
        "max_bytes", \.maxBytes, .size, default: "no bound", doc: "The maximum number of bytes.",
        example: "500MB"),
    ],
    blank: { _, _ in Self() })
}

extension ValueKind where Value == Double {
  /// A number from 0 to 1, or one of URLSessionTask's constants for such numbers.
  static var priority: Self {
    let number = ValueKind.number(0...1)
    let words = ["low": 0.25, "default": 0.5, "high": 0.75]
    let names = ["low", "default", "high"]
    return Self(.either([number.form, .choice(names)]), text: number.text) { node, decoder in
      guard node.scalar?.value == .string, let text = decoder.constant(node) else {
        return number.decode(node, &decoder)
      }
      if let value = words[text] { return value }
      // Resolve the value as `settled` does. `settled` itself cannot be used, because it does not return
      // words.
      if node.scalar?.text.hasPrefix("${") == true, let value = YAMLScalar.resolve(text).number,
        (0...1).contains(value)
      {
        return value
      }
      decoder.report(
        .unknownWord, at: node.location,
        "'priority' must be a number from 0 to 1, or low, default or high\(node.foundWord)",
        help: decoder.suggestion(for: text, among: names) ?? decoder.exampleHelp)
      return nil
    }
  }
}

extension Download {
  static let shape = ObjectSchema<Download>(
    "Download", doc: "A batch of files to download, listed in the manifest, in a file or by a fetch.",
    keys: [
      .forEach,
      .session(\.session, example: "downloads"),
      .token(\.token),
      .needs(\.needs, example: "[catalog]"),
      Key(
        "items", \.items, DownloadItems.kind, isRequired: true,
        doc:
          "The files to download: a list of items, or a mapping that names the list and the file of each item.",
        example: "{ from: catalog, json: /files, save_to: \"photos/${item.name}\" }"),
      Key(
        "deliver", \.deliver, .choice(),
        doc: """
          When to download an item: once, again when its URL, size or digest in the list has changed or its file is \
          missing, or in every round.
          """,
        example: "when_changed"),
      Key(
        "priority", \.priority, .priority,
        doc:
          "A number from 0 to 1, or `low`, `default` or `high`. Batches with a higher priority are started first.",
        example: "high"),
      Key(
        "batch", \.batch, .object(Upload.Batch.shape), default: "no bounds",
        doc: "The maximum number of files and bytes that are queued at once."),
      Key(
        "request", \.request, .object(RequestTemplate.downloadShape), default: "a GET",
        doc: "The header fields and the query of the GET for each item.",
        example: "{ headers: { Accept: image/jpeg } }"),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect, default: "a 200"),
      Key(
        "max_size", \.maxSize, .size, default: "no bound",
        doc:
          "The maximum number of bytes that are stored for each item. An item with a larger response fails with `answer_too_large`.",
        example: "50MB"),
      .checksum(\.request.checksum),
      .keepModified(\.keepsModified),
      .segments(\.segments),
      .retry(\.retry),
    ],
    blank: { name, _ in
      Download(
        name: name, session: Located("", at: name.location),
        items: DownloadItems(.written([]), saveTo: Template([])))
    },
    place: { _, name in .download(name, nil) },
    finish: { download, node, decoder in
      decoder.checkFiles(of: download, node)
      let items = node["items"]
      let digest = items?.members?.first { $0.key.value == "sha256" } ?? items?.firstMember(named: "sha256")
      guard let digest, node["checksum"] != nil else { return }
      decoder.report(
        .excludingKeys, at: digest.key.location,
        "'checksum' and 'sha256' of an item cannot be used together",
        help: "remove one of them")
    })
}

extension YAMLNode {
  /// The first member with this name among the mappings of a list.
  fileprivate func firstMember(named name: String) -> Member? {
    elements?.lazy.compactMap { $0.members?.first { $0.key.value == name } }.first
  }
}

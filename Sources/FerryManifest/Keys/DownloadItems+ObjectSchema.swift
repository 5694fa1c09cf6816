extension DownloadItems {
  /// Items in the manifest, or a list elsewhere.
  static let kind: ValueKind<DownloadItems> = {
    let written = ValueKind<[Written]>.list(.object(Written.shape), atLeastOne: true)
    let list = ValueKind<ItemList>.object(ItemList.shape)
    return ValueKind(.either([written.form, list.form])) { node, decoder in
      if node.elements != nil { return written.decode(node, &decoder).map { DownloadItems($0) } }
      guard node.members != nil else {
        decoder.mismatch(
          node, wanted: "a list of items, or a mapping with 'urls', 'file' or 'from'",
          help: decoder.exampleHelp)
        return nil
      }
      return list.decode(node, &decoder)?.items
    }
  }()
}

extension DownloadItems.Written {
  static let shape = ObjectSchema<Self>(
    "Download item", doc: "A file to download.",
    keys: [
      Key("url", \.url, .itemURL, isRequired: true, doc: "The URL.", example: "https://example.com/a.iso"),
      Key(
        "save_to", \.saveTo, .pathInside, isRequired: true,
        doc: "The file that the document replaces atomically; relative to the manifest's folder.",
        example: "images/a.iso"),
      Key(
        "size", \.size, .size, default: "any size",
        doc: "The size of the document. A document of another size is not stored.", example: "700MB"),
      Key(
        "sha256", \.sha256, .hexadecimalSHA256, default: "any content",
        doc:
          "The SHA-256 digest of the document in hexadecimal. A document with another digest is not stored.",
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    ],
    blank: { _, _ in Self(url: "") })
}

/// A list of items that is not written completely in the manifest.
private struct ItemList {
  var urls: [String]?
  var file: String?
  var from: Located<String>?
  var json: String?
  var url: Template?
  var saveTo = Template([])
  var size: Template?
  var sha256: Template?

  var items: DownloadItems {
    let source: DownloadItems.Source =
      if let from {
        .fetch(from.value, json: json)
      } else if let file {
        .file(file, json: json)
      } else {
        .written((urls ?? []).map { .init(url: $0) })
      }
    return DownloadItems(
      source, url: url ?? DownloadItems.field(.url), saveTo: saveTo, size: size, sha256: sha256)
  }

  static let shape = ObjectSchema<Self>(
    "Download items",
    doc: """
      A list of files to download. `${item.NAME}` is a member of the list's element. If an element is a URL, \
      `${item.url}` is the URL, and `${item.name}` the last segment of its path.
      """,
    keys: [
      Key(
        "urls", \.urls, .list(.itemURL, atLeastOne: true), default: "none", doc: "URLs in the manifest.",
        example: "[https://example.com/a.iso, https://example.com/b.iso]"),
      Key(
        "file", \.file, .path, default: "none",
        doc: """
          A file with the list, relative to the manifest's folder: one URL per line, or JSON with `json`. It is read when \
          the nodes that the batch needs have ended.
          """,
        example: "urls.txt"),
      Key(
        "from", \.from, .name(of: .fetch), default: "none",
        doc: "A fetch whose stored file is the list. The batch waits for this fetch.", example: "catalog"),
      Key(
        "json", \.json, .jsonPointer, default: "one URL per line",
        doc: "The JSON pointer (RFC 6901) to the array in the list; an empty pointer is the whole document.",
        example: "/files"),
      Key(
        "url", \.url, .url, default: "`${item.url}`", doc: "The URL of an item.",
        example: "\"https://example.com/files/${item.id}\""),
      Key(
        "save_to", \.saveTo, .listedText("path"), isRequired: true,
        doc: """
          The file that an item's document replaces atomically, relative to the manifest's folder. It must begin \
          with a folder; values from the list cannot lead outside of it.
          """,
        example: "\"photos/${item.name}\""),
      Key(
        "size", \.size, .listedText("size"), default: "any size",
        doc: """
          The size of an item's document in bytes. A document of another size is not stored. An element whose value is \
          absent or null can have any size.
          """,
        example: "\"${item.size}\""),
      Key(
        "sha256", \.sha256, .listedText("digest"), default: "any content",
        doc: """
          The SHA-256 digest of an item's document in hexadecimal. A document with another digest is not stored. An \
          element whose value is absent or null can have any content.
          """,
        example: "\"${item.sha256}\""),
    ],
    rules: [.exactlyOne(["urls", "file", "from"]), .atMostOne(["urls", "json"])],
    blank: { _, _ in Self() },
    finish: { list, node, decoder in
      guard let written = node["save_to"], !list.saveTo.segments.isEmpty,
        let problem = SavePathRule.problem(list.saveTo)
      else { return }
      decoder.report(problem, at: written.location)
    })
}

extension ValueKind where Value == Template {
  /// A string whose value is known once the list has been read.
  fileprivate static func listedText(_ what: String) -> Self {
    let text = nonEmptyTemplate(what)
    return Self(text.form, text: text.text) { node, decoder in
      let outer = decoder.place
      if case .download(let name, _) = outer { decoder.place = .download(name, .listed) }
      defer { decoder.place = outer }
      return text.decode(node, &decoder)
    }
  }
}

extension ValueKind where Value == String {
  /// A URL that is known before a run.
  fileprivate static var itemURL: Self {
    constant("URL").refused { URLRule.problem(Template(literal: $0)) }
  }

  fileprivate static var hexadecimalSHA256: Self {
    constant("SHA-256 digest").refused { DigestRule.problem($0, "SHA-256", .sha256) }
  }
}

extension BadManifest {
  /// Mistakes in download batches.
  static let downloads: [BadManifest] = [
    BadManifest(
      "a list that is not a fetch", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests: { list: { session: quick, request: { url: https://example.com/ } } }
      downloads:
        photos:
          session: quick
          items: { from: 1️⃣list, json: /files, save_to: "photos/${item.name}" }
        none:
          session: quick
          items: { from: 2️⃣catalog, json: /files, save_to: "photos/${item.name}" }
      """,
      .error(
        "1️⃣", .unknownNode, "unknown fetch 'list'", help: "it is a single request; 'from' requires a fetch"),
      .error("2️⃣", .unknownNode, "unknown fetch 'catalog'", help: "declare it under 'fetches:'")),
    BadManifest(
      "a list of a fetch that has instances",
      """
      fetches:
        catalog:
          for_each: [eu, us]
          session: quick
          request: { url: https://example.com/ }
          save_to: "${each.key}.json"
      downloads:
        photos: { session: quick, items: { from: 1️⃣catalog, save_to: "photos/${item.name}" } }
      """,
      .error(
        "1️⃣", .unknownNode, "'catalog' has 'for_each', and a list is the file of one fetch",
        help: "name one of its instances, such as 'catalog[eu]'")),
    BadManifest(
      "a batch that waits for itself",
      """
      fetches:
        catalog: { session: quick, needs: [1️⃣photos], request: { url: https://example.com/ }, save_to: a }
      downloads:
        photos: { session: quick, items: { from: 2️⃣catalog, save_to: "photos/${item.name}" } }
      """,
      .error(
        "2️⃣", .cycle, "dependency cycle: photos → catalog → photos",
        help: "remove one of these names from 'needs', or one of the references",
        notes: [("1️⃣", "'catalog' waits for 'photos' here")])),
    BadManifest(
      "targets that a list could choose freely",
      """
      downloads:
        a: { session: quick, items: { file: urls.txt, save_to: 1️⃣"${item.name}" } }
        b: { session: quick, items: { file: urls.txt, save_to: 2️⃣"./img-${item.name}" } }
        c: { session: quick, items: { file: urls.txt, save_to: 3️⃣"../photos/${item.name}" } }
        d: { session: quick, items: { file: urls.txt, save_to: 4️⃣"photos/a.jpg" } }
        e: { session: quick, items: { file: urls.txt, save_to: 5️⃣"photos/${item.name}/" } }
      """,
      .error(
        "1️⃣", .invalidPath,
        "this path does not begin with a folder, so the list could replace any file next to the manifest",
        help: "put a folder before the first reference, for example 'downloads/${item.name}'"),
      .error(
        "2️⃣", .invalidPath,
        "this path does not begin with a folder, so the list could replace any file next to the manifest",
        help: "put a folder before the first reference, for example 'downloads/${item.name}'"),
      .error(
        "3️⃣", .invalidPath, "this path leaves its folder with '..'",
        help: "specify a path below the manifest's folder"),
      .error(
        "4️⃣", .invalidPath, "every item of the list would be saved to the same file",
        help: "refer to the list, for example with 'save_to: \"downloads/${item.name}\"'"),
      .error("5️⃣", .invalidPath, "this path refers to a folder", help: "specify a file")),
    BadManifest(
      "values that a list does not have",
      """
      downloads:
        photos:
          session: quick
          items: { file: urls.txt, save_to: "photos/1️⃣${item.nam}", size: "2️⃣${token.size}" }
      """,
      .error(
        "1️⃣", .unknownReference, "an item of this list has no field 'nam'", help: "did you mean 'name'?"),
      .error(
        "2️⃣", .referenceOutOfPlace, "'${token.size}' has no value while a list is read",
        help: "references allowed here: vars.…, env.… or item.…")),
    BadManifest(
      "a value of a list where there is none", in: .fetch,
      "request: { url: \"https://example.com/1️⃣${item.name}\" }",
      .error(
        "1️⃣", .referenceOutOfPlace, "'${item.name}' has no value in a fetch",
        help: "references allowed here: vars.…, env.…, secrets.…, token.…, requests.… or run.…")),
    BadManifest(
      "items with one file",
      """
      downloads:
        photos:
          session: quick
          items:
            - { url: https://example.com/a, save_to: 3️⃣photos/a }
            - { url: https://example.com/b, save_to: 1️⃣./photos//a }
            - { url: https://example.com/c, save_to: 2️⃣photos/A }
            - { url: https://example.com/d, save_to: photos/d }
      """,
      .error(
        "1️⃣", .invalidPath, "another item of this batch is saved to the same file",
        help: "specify a separate file for each item", notes: [("3️⃣", "the other item is here")]),
      .error(
        "2️⃣", .invalidPath, "another item of this batch is saved to a path that differs only in case",
        help: "specify a separate file for each item", notes: [("3️⃣", "the other item is here")])),
    BadManifest(
      "a form without fields and file", in: .http, "multipart: 1️⃣{}",
      .error(
        "1️⃣", .missingAlternative, "a form requires a field or a file",
        help: "add 'fields', 'file' or 'fields_after', for example 'fields: { title: weekly }'")),
    BadManifest(
      "a form without fields", in: .http, "multipart: 1️⃣{ fields: {}, fields_after: [] }",
      .error(
        "1️⃣", .missingAlternative, "a form requires a field or a file",
        help: "add 'fields', 'file' or 'fields_after', for example 'fields: { title: weekly }'")),
    BadManifest(
      "two digests",
      """
      downloads:
        photos:
          session: quick
          items: { file: a.json, json: "", save_to: "photos/${item.name}", 1️⃣sha256: "${item.sha256}" }
          checksum: { header: Repr-Digest }
      """,
      .error(
        "1️⃣", .excludingKeys, "'checksum' and 'sha256' of an item cannot be used together",
        help: "remove one of them")),
    BadManifest(
      "items in the manifest",
      """
      downloads:
        photos:
          session: quick
          items:
            - { url: 1️⃣example.com/a, save_to: 2️⃣/a, sha256: 3️⃣"12" }
        others: { session: quick, items: 4️⃣urls.txt }
      """,
      .error(
        "1️⃣", .invalidURL, "a URL must begin with http:// or https://", help: "put 'https://' before it"),
      .error(
        "2️⃣", .invalidPath, "this path must be relative", help: "specify a path below the manifest's folder"),
      .error(
        "3️⃣", .wrongType, "a SHA-256 digest consists of 64 hexadecimal digits",
        help: "write the digest as 'sha256sum' and similar programs print it"),
      .error(
        "4️⃣", .wrongType,
        "'items' must be a list of items, or a mapping with 'urls', 'file' or 'from', found the string 'urls.txt'",
        help:
          "for example 'items: { from: catalog, json: /files, save_to: \"photos/${item.name}\" }'")),
  ]
}

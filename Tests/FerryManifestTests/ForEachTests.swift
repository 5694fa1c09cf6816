import FerryManifest
import Testing

@Suite struct `A for_each` {
  @Test func `creates a node for each name in a list`() throws {
    let reading = read(
      head + """
        fetches:
          catalog:
            for_each: [eu, us-1]
            session: quick
            request: { url: "https://${each.key}.example.com/catalog.json" }
            save_to: ${each.value}/catalog.json
        requests:
          notify: { session: quick, needs: [catalog], request: { url: https://example.com/ } }
          first: { session: long, needs: ["catalog[eu]"], request: { url: https://example.com/ } }
        """)
    #expect(reading.diagnostics == [])
    let manifest = try #require(reading.manifest)
    #expect(manifest.fetches.map(\.name.value) == ["catalog[eu]", "catalog[us-1]"])
    #expect(
      manifest.fetches.map(\.request.url.constant) == [
        "https://eu.example.com/catalog.json", "https://us-1.example.com/catalog.json",
      ])
    #expect(manifest.fetches.map(\.saveTo) == ["eu/catalog.json", "us-1/catalog.json"])
    #expect(
      manifest.requests.map { $0.needs.map(\.value) } == [["catalog[eu]", "catalog[us-1]"], ["catalog[eu]"]])
  }

  @Test func `takes values from a mapping, with fields`() throws {
    let reading = read(
      head + """
        vars: { top: example.com }
        uploads:
          photos:
            for_each:
              eu: { host: "eu.${vars.top}", folder: europe, parts: 4 }
              us: { host: us.example.org, folder: america, parts: 8 }
            session: long
            files: { root: "${each.value.folder}" }
            batch: { max_items: "${each.value.parts}" }
            allocate:
              request: { url: "https://${each.value.host}/" }
              capture: { id: { json: /id } }
              valid_for: 1h
            transfer: { request: { url: "https://${each.value.host}/${allocate.id}" } }
        """)
    #expect(reading.diagnostics.filter { $0.severity == .error } == [])
    let manifest = try #require(reading.manifest)
    #expect(manifest.uploads.map(\.files.root) == ["europe", "america"])
    #expect(manifest.uploads.map(\.batch.maxItems) == [4, 8])
    #expect(
      manifest.uploads.map(\.transfer.request.url.description) == [
        "https://eu.example.com/${allocate.id}", "https://us.example.org/${allocate.id}",
      ])
  }

  @Test func `has its mistakes reported once, not for each name`() {
    expectMistakes(
      head
        + """
        fetches:
          7️⃣catalog:
            for_each: [eu, us]
            session: 1️⃣slow
            request: { url: "https://2️⃣${each.name}/", 3️⃣content: x }
        uploads:
          photos:
            for_each: { eu: a }
            needs: 4️⃣photo
            session: long
            files: {}
            transfer: { request: { url: "https://h/5️⃣${token.t}/6️⃣${allocate.id}" } }
        """,
      [
        ("7️⃣", "'catalog' has no 'save_to'"), ("1️⃣", "unknown session 'slow'"),
        ("2️⃣", "unknown reference '${each.name}'"), ("3️⃣", "unknown key 'content'"),
        ("4️⃣", "'needs' must be a list, found the string 'photo'"),
        ("5️⃣", "'photos' does not name a token, so '${token.…}' has no value"),
        ("6️⃣", "'photos' has no 'allocate' step"),
      ])
  }

  @Test func `rejects names that are not valid for a node`() {
    expectMistakes(
      head + """
        vars: { a: "1️⃣${each.key}" }
        fetches:
          catalog:
            for_each: [eu, 2️⃣eu, 3️⃣a/b, 4️⃣[x]]
            session: quick
            request: { url: https://example.com/ }
            save_to: ${each.key}
          empty: { for_each: 5️⃣[], session: quick, request: { url: https://example.com/ }, save_to: e }
          word: { for_each: 6️⃣eu, session: quick, request: { url: https://example.com/ }, save_to: w }
        requests:
          r: { session: long, needs: [catalog, empty, word, 7️⃣"catalog[asia]"], request: { url: https://h/ } }
        """,
      [
        ("1️⃣", "'${each.key}' has a value only with 'for_each'"),
        ("2️⃣", "'for_each' contains 'eu' twice"),
        ("3️⃣", "a name cannot contain '/'"),
        ("4️⃣", "'for_each' must be a name, found a list"), ("5️⃣", "'for_each' is empty"),
        ("6️⃣", "'for_each' must be a list of names, or a mapping, found the string 'eu'"),
        ("7️⃣", "unknown node 'catalog[asia]'"),
      ])
  }

  @Test func `takes part in the search for cycles`() {
    expectMistakes(
      head + """
        fetches:
          a:
            for_each: [x, y]
            session: quick
            needs: ["b[${each.key}]"]
            request: { url: https://example.com/ }
            save_to: ${each.key}
          b:
            for_each: [x, y]
            session: long
            request: { url: https://example.com/ }
            save_to: b${each.key}
        """, [])
    let found = read(
      head + """
        fetches:
          a: { for_each: [x], session: quick, needs: [b], request: { url: https://example.com/ }, save_to: a }
          b: { session: long, needs: ["a[x]"], request: { url: https://example.com/ }, save_to: b }
        """
    ).diagnostics
    #expect(found.map(\.code) == [.cycle])
    #expect(found.first?.message.hasSuffix("a[x] → b → a[x]") == true)
  }

  @Test func `whose value has a mistake gets only that diagnostic`() {
    expectMistakes(
      head + """
        fetches:
          f:
            for_each: { eu: { a: "${env.A:-x}", b: "1️⃣${env.B}" } }
            session: quick
            request: { url: "https://${each.value.a}/${each.value.b}" }
            save_to: f
        """, [("1️⃣", "environment variable 'B' is not set")])
  }

  @Test func `in a wrong place gets only that diagnostic`() {
    expectMistakes(
      head + """
        requests:
          r: { 1️⃣for_each: [a], session: quick, request: { url: "https://example.com/${each.key}" } }
        """, [("1️⃣", "unknown key 'for_each'")])
  }

  @Test func `is written as a list, in quotes where the text needs them`() {
    let reading = read(
      head + """
        vars: { list: eu }
        fetches:
          f: { for_each: "${vars.list}", session: quick, request: { url: https://example.com/ }, save_to: f }
        """)
    #expect(reading.diagnostics.map(\.help) == ["write [\"${vars.list}\"]"])
  }

  @Test(arguments: [
    ("f[ev]", "did you mean 'f[eu]'?"), ("f[asia]", "use 'f[eu]' or 'f[us]'"),
    ("r[eu]", "'r' does not have 'for_each'; write the name without brackets"),
  ])
  func `that creates no node of a name is reported with those that it creates`(_ need: String, _ help: String)
  {
    let reading = read(
      head + """
        fetches:
          f: { for_each: [eu, us], session: quick, request: { url: https://example.com/ }, save_to: "${each.key}" }
        requests:
          r: { session: quick, request: { url: https://example.com/ } }
          s: { session: quick, needs: ["\(need)"], request: { url: https://example.com/ } }
        """)
    #expect(reading.diagnostics.map(\.message) == ["unknown node '\(need)'"])
    #expect(reading.diagnostics.map(\.help) == [help])
  }
}

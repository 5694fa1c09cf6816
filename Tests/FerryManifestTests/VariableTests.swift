import FerryManifest
import Testing

@Suite struct `A variable` {
  @Test func `that may be empty must be a string`() {
    expectMistakes(
      """
      version: 1
      name: photos
      vars: { a: { required: false }, b: { type: integer, required: 1️⃣false } }
      sessions: { quick: { max_connections_per_host: 2️⃣"${vars.a}" } }
      requests: { r: { session: quick, request: { url: https://example.com/, json: { "$${x": "${vars.a}" } } } }
      """,
      [
        ("1️⃣", "variable 'b' is empty if no value is set, but must be a whole number"),
        (
          "2️⃣",
          "'max_connections_per_host' must be a whole number from 1 to 1000, but '${vars.a}' has a different value"
        ),
      ])
  }

  private let declared = """
    version: 1
    name: photos
    vars:
      plain: a
      port: { type: integer, default: 8080, description: where it listens }
      flag: { type: boolean, default: "${vars.switch}" }
      switch: { default: "true" }
      wait: { type: duration, default: 30s }
      bucket: { description: "the bucket's name", required: true }
      extra: { required: false }
    sessions: { quick: { max_connections_per_host: "${vars.port}", timeout_for_request: "${vars.wait}" } }
    requests:
      r:
        session: quick
        request:
          url: https://example.com/${vars.bucket}${vars.extra}
          json: { port: "${vars.port}", text: "p${vars.port}", flag: "${vars.flag}", plain: "${vars.plain}" }

    """

  @Test func `has a type, which a JSON leaf keeps`() throws {
    let reading = read(
      declared, variables: ["port": "9", "bucket": "b"])
    #expect(reading.diagnostics == [])
    let request = try #require(reading.manifest?.requests.first)
    #expect(
      request.request.body
        == .json(
          .object([
            .init(name: "port", value: .integer(9)),
            .init(name: "text", value: .string(Template(literal: "p9"))),
            .init(name: "flag", value: .bool(true)),
            .init(name: "plain", value: .string(Template(literal: "a"))),
          ])))
    #expect(request.request.url.constant == "https://example.com/b")
    #expect(reading.manifest?.sessions.first?.maxConnectionsPerHost == 9)
    #expect(reading.givenVariables == ["port": "9", "bucket": "b"])
  }

  @Test(
    arguments: [
      ("0.75", 0.75), ("1", 1), ("high", 0.75), ("1.5", nil), ("-1", nil), ("hihg", nil), ("1e400", nil),
      ("", nil),
    ] as [(String, Double?)])
  func `may be a priority, as a number or a word`(_ value: String, _ priority: Double?) {
    let reading = read(
      """
      version: 1
      name: m
      vars: { p: { default: "0.5" } }
      sessions: { s: {} }
      uploads:
        u:
          session: s
          files: { root: . }
          priority: "${vars.p}"
          transfer: { request: { url: http://h/ } }

      """, variables: ["p": value])
    #expect(reading.manifest?.uploads.first?.priority == priority)
    let isRejected = reading.diagnostics.contains {
      $0.message.hasPrefix("'priority' must be a number from 0 to 1")
    }
    #expect(isRejected == (priority == nil))
  }

  @Test func `reports its external inputs`() {
    let reading = read(declared, variables: ["port": "9"])
    #expect(reading.variables.map(\.name) == ["plain", "port", "flag", "switch", "wait", "bucket", "extra"])
    #expect(reading.variables.filter(\.isRequired).map(\.name) == ["bucket"])
    #expect(reading.variables.filter(\.isGiven).map(\.name) == ["port"])
    #expect(reading.diagnostics.map(\.code) == [.missingVariable])
    #expect(reading.diagnostics.first?.help == "set it with --var bucket=…: the bucket's name")
  }

  @Test func `of another type than its value is reported, without the value`() {
    expectMistakes(
      """
      version: 1
      name: photos
      vars:
        1️⃣port: { type: integer, default: 1 }
        wait: { type: duration, default: 2️⃣30 }
        size: { type: 3️⃣bytes }
        both: { required: 4️⃣true, default: a }
        url: { type: url, default: 5️⃣example.com }
        none: { 6️⃣typ: string }
      """,
      [
        ("1️⃣", "variable 'port' must be a whole number"),
        ("2️⃣", "variable 'wait' must be a duration such as 30s"),
        ("3️⃣", "'type' must be string, boolean, integer, number, duration, size or url, found 'bytes'"),
        ("4️⃣", "a variable with a default cannot be required"), ("5️⃣", "variable 'url' must be a URL"),
        ("6️⃣", "unknown key 'typ'"),
      ], variables: ["port": "hunter2", "size": "5MB"])
    let told = read("version: 1\nname: p\nvars: { port: { type: integer } }", variables: ["port": "hunter2"])
    #expect(!DiagnosticFormatter(sources: told.sources).text(told.diagnostics).contains("hunter2"))
  }

  @Test func `is given by files, the later before the earlier and --var before both`() {
    let files = [
      SourceText(Array("bucket: one\nport: 1\nplain: x\n".utf8), file: "a.yaml"),
      SourceText(Array("# more\nport: 2\nplain: y\nother: z\n".utf8), file: "b.yaml"),
    ]
    let reading = ManifestReader(environment: [:], variables: ["plain": "z"], variableFiles: files)
      .read(Array(declared.utf8), file: "m.yaml")
    #expect(reading.givenVariables == ["bucket": "one", "port": "2", "plain": "z"])
    #expect(
      reading.diagnostics.map { "\($0.location) \($0.severity) \($0.message)" } == [
        "b.yaml:4:1 warning the manifest does not declare variable 'other'"
      ])
  }

  @Test func `of the wrong type in a file is reported there`() {
    let file = SourceText(Array("bucket: [a]\nport: many\n".utf8), file: "a.yaml")
    let reading = ManifestReader(environment: [:], variableFiles: [file]).read(
      Array(declared.utf8), file: "m.yaml")
    #expect(
      reading.diagnostics.map { "\($0.location) \($0.message)" } == [
        "a.yaml:1:9 'bucket' must be a string, found a list",
        "a.yaml:2:7 variable 'port' must be a whole number",
      ])
  }

  @Test func `whose default is invalid gets only that diagnostic`() {
    expectMistakes(
      head + """
        vars: { a: { default: 1️⃣null }, b: { default: 2️⃣[] }, c: { 3️⃣defalt: x }, 4️⃣d: {} }
        """,
      [
        ("1️⃣", "'default' must be a string, found nothing"), ("2️⃣", "'default' must be a string, found a list"),
        ("3️⃣", "unknown key 'defalt'"), ("4️⃣", "variable 'd' has no value"),
      ])
  }
}

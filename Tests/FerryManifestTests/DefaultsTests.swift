import FerryManifest
import Testing

@Suite struct `The defaults of a manifest` {
  private let nodes = """
    uploads:
      photos:
        files: {}
        transfer:
          request: { url: http://localhost/, headers: { content-type: image/jpeg } }
    fetches:
      catalog: { request: { url: http://localhost/ }, save_to: c, retry: { max: 10m } }
    requests:
      notify: { session: other, request: { url: http://localhost/ } }
    """

  @Test func `apply to absent keys, and to nothing else`() throws {
    let reading = read(
      """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_request: 5s }, other: {} }
      defaults:
        sessions: { timeout_for_request: 30s, kind: background }
        uploads: { session: quick, priority: high }
        fetches: { session: quick, retry: { limit: 7 } }
        requests: { session: quick, when: always }
        request: { headers: { Accept: text/plain, Content-Type: text/plain } }
        retry: { limit: 2, initial: 3s }

      """ + nodes)
    #expect(reading.diagnostics == [])
    let manifest = try #require(reading.manifest)
    #expect(manifest.sessions.map(\.timeoutForRequest) == [.seconds(5), .seconds(30)])
    #expect(manifest.sessions.map(\.kind) == [.background, .background])
    let upload = try #require(manifest.uploads.first)
    #expect(upload.session.value == "quick")
    #expect(upload.priority == 0.75)
    #expect(upload.retry == RetryPolicy(limit: 2, initial: .seconds(3)))
    #expect(upload.transfer.request.headers.map(\.name) == ["content-type", "Accept"])
    let fetch = try #require(manifest.fetches.first)
    #expect(fetch.retry == RetryPolicy(limit: 7, initial: .seconds(3), max: .seconds(600)))
    #expect(fetch.request.headers.map(\.name) == ["Accept", "Content-Type"])
    let request = try #require(manifest.requests.first)
    #expect(request.session.value == "other")
    #expect(request.when == .always)
  }

  @Test func `do not add a request to a token with oauth2, in whose place it would be`() throws {
    let reading = read(
      """
      version: 1
      name: photos
      sessions: { quick: {} }
      vars: { s: x }
      defaults: { request: { headers: { Accept: text/plain } }, tokens: { session: quick } }
      tokens:
        login: { oauth2: { token_url: https://example.com/token, client_id: a, client_secret: "${vars.s}" } }
      """)
    #expect(reading.diagnostics.filter { $0.severity == .error } == [])
    #expect(try #require(reading.manifest).tokens[0].request.headers.isEmpty)
  }

  @Test func `are checked whether used or not, and each mistake is reported once`() {
    expectMistakes(
      """
      version: 1
      name: photos
      sessions: { quick: {}, other: {} }
      defaults:
        sessions: { 1️⃣timeout: 30s, kind: 2️⃣foreground }
        uploads: { session: quick }
        fetches: { session: 3️⃣slow }
        requests: { session: quick }
        request: { 4️⃣hedders: {} }
        retry: { limit: 5️⃣many }
        6️⃣transfer: {}

      """ + nodes,
      [
        ("1️⃣", "unknown key 'timeout'"),
        ("2️⃣", "'kind' must be default, ephemeral or background, found 'foreground'"),
        ("3️⃣", "unknown session 'slow'"), ("4️⃣", "unknown key 'hedders'"),
        ("5️⃣", "'limit' must be a whole number from 0 to 1000, found the string 'many'"),
        ("6️⃣", "unknown key 'transfer'"),
      ])
  }

  @Test func `are overridden by a key that excludes them`() throws {
    let reading = read(
      head + """
        defaults:
          uploads: { session: long, files: { include: ["*.jpg"] } }
          requests: { request: { json: { a: 1 } } }
        uploads: { photos: { files: { list: l }, transfer: { request: { url: http://localhost/ } } } }
        requests: { r: { session: quick, request: { url: http://localhost/, form: { b: c } } } }
        """)
    #expect(reading.diagnostics == [])
  }

  @Test(.timeLimit(.minutes(1))) func `that multiply are bounded`() {
    let many = (0..<3_000).map { "h\($0): x" }.joined(separator: ", ")
    let uploads = (0..<3_000).map { "  u\($0): { transfer: { request: {} } }\n" }.joined()
    let found = read(head + "defaults: { request: { headers: { \(many) } } }\nuploads:\n\(uploads)")
      .diagnostics
    #expect(found.contains { $0.code == .tooManyValues })
  }

  @Test func `do not change an explicit JSON body`() throws {
    let reading = read(
      """
      version: 1
      name: photos
      sessions: { quick: {} }
      defaults:
        requests: { session: quick, expect: { json: { /a: 1 } }, request: { json: { common: { a: 1 } } } }
      requests:
        own: { request: { url: http://localhost/, json: { mine: 1 } }, expect: { json: { /b: 2 } } }
        common: { request: { url: http://localhost/ } }
      """)
    #expect(reading.diagnostics == [])
    let manifest = try #require(reading.manifest)
    #expect(
      manifest.requests.map(\.request.body) == [
        .json(.object([.init(name: "mine", value: .integer(1))])),
        .json(.object([.init(name: "common", value: .object([.init(name: "a", value: .integer(1))]))])),
      ])
    #expect(manifest.requests.first?.expect.json.count == 2)
  }

  @Test func `that give every session one identifier are reported at the second session`() {
    expectMistakes(
      """
      version: 1
      name: photos
      defaults: { sessions: { identifier: same } }
      sessions: { quick: {}, 1️⃣long: {} }
      """, [("1️⃣", "another session already has the identifier 'same'")])
  }
}

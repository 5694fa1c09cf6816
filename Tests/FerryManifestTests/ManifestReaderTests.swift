import FerryManifest
import Testing

@Suite struct `A good manifest` {
  private func template(_ segments: Template.Segment...) -> Template { Template(segments) }

  private func located(_ text: String) -> Located<String> {
    Located(text, at: SourceLocation(file: "", line: 1, column: 1))
  }

  @Test func `becomes the expected model`() throws {
    let reading = read(
      """
      # yaml-language-server: $schema=../docs/manifest.schema.json
      version: 1
      name: photos
      profile: server
      vars:
        api: ${env.PHOTOS_API:-http://127.0.0.1:8080}
      secrets:
        client_secret: { env: PHOTOS_CLIENT_SECRET }
        other: { file: /run/secrets/photos }
      sessions:
        quick:
          kind: default
          timeout_for_request: 30s
        uploads:
          kind: background
          identifier: com.example.photos.upload
          max_connections_per_host: 4
          timeout_for_request: 10m
          timeout_for_resource: 1d
          headers: { User-Agent: ferry }
      tokens:
        login:
          session: quick
          request:
            method: POST
            url: ${vars.api}/oauth/token
            form: { grant_type: client_credentials, client_id: ferry, client_secret: "${secrets.client_secret}" }
          capture:
            access_token: { json: /access_token, secret: true }
            expires_in:   { json: /expires_in }
          apply: { header: Authorization, value: "Bearer ${token.access_token}" }
          refresh: { before_expiry: 30s, on_status: [401] }
      uploads:
        photos:
          session: uploads
          token: login
          files: { root: ~/Pictures, include: ["**/*.jpg"], exclude: ["**/.*"] }
          deliver: when_changed
          priority: 0.5
          batch: { max_items: 100, max_bytes: 500MB }
          allocate:
            session: quick
            request: { method: POST, url: "${vars.api}/uploads", json: { name: "${file.name}", size: "${file.size}" } }
            capture: { upload_id: { json: /id } }
            valid_for: 1h
          transfer:
            protocol: put
            request: { method: PUT, url: "${vars.api}/uploads/${allocate.upload_id}/content", headers: { Content-Type: image/jpeg } }
            expect: { status: [200, 201, 204] }
          commit:
            session: quick
            request: { method: POST, url: "${vars.api}/uploads/${allocate.upload_id}/commit", json: { sha256: "${file.sha256}" } }
            already_done: { status: [409] }
          retry: { limit: 5, initial: 1s, factor: 2, max: 5m, jitter: 0.25 }
      fetches:
        catalog:
          session: quick
          token: login
          interval: { minimum: 15m }
          request: { url: "${vars.api}/catalog.json" }
          save_to: catalog.json
          needs: [photos]
      requests:
        notify:
          session: quick
          needs: [photos, catalog]
          when: always
          request: { method: POST, url: "${vars.api}/done", json: { run: "${run.id}", failed: "${run.failed}" } }
      """)
    #expect(reading.diagnostics == [])
    #expect(reading.environment.map(\.name) == ["PHOTOS_API", "PHOTOS_CLIENT_SECRET"])
    #expect(reading.environment.map(\.isSecret) == [false, true])

    let api = "http://127.0.0.1:8080"
    let quick = located("quick")
    let expected = Manifest(
      file: "m.yaml", name: located("photos"),
      secrets: [
        Secret(name: located("client_secret"), source: .environment("PHOTOS_CLIENT_SECRET")),
        Secret(name: located("other"), source: .file("/run/secrets/photos")),
      ],
      sessions: [
        Session(name: quick, timeoutForRequest: .seconds(30)),
        Session(
          name: located("uploads"), kind: .background, identifier: "com.example.photos.upload",
          maxConnectionsPerHost: 4, timeoutForRequest: .seconds(600), timeoutForResource: .seconds(86_400),
          headers: [.init(name: "User-Agent", value: Template(literal: "ferry"))]),
      ],
      tokens: [
        TokenStep(
          name: located("login"), session: quick,
          request: RequestTemplate(
            method: "POST", url: Template(literal: api + "/oauth/token"),
            body: .form([
              .init(name: "grant_type", value: Template(literal: "client_credentials")),
              .init(name: "client_id", value: Template(literal: "ferry")),
              .init(name: "client_secret", value: template(.reference(.secret("client_secret")))),
            ])),
          capture: [
            Capture(name: "access_token", source: .json(pointer: "/access_token"), isSecret: true),
            Capture(name: "expires_in", source: .json(pointer: "/expires_in")),
          ],
          apply: .init(
            .header("Authorization"), value: template(.literal("Bearer "), .reference(.token("access_token")))
          ))
      ],
      uploads: [
        Upload(
          name: located("photos"), session: located("uploads"), token: located("login"),
          files: FileSelection(root: "~/Pictures", source: .globs(include: ["**/*.jpg"], exclude: ["**/.*"])),
          batch: .init(maxItems: 100, maxBytes: 500_000_000),
          allocate: .init(
            session: quick,
            request: RequestTemplate(
              method: "POST", url: Template(literal: api + "/uploads"),
              body: .json(
                .object([
                  .init(name: "name", value: .string(template(.reference(.file(.name))))),
                  .init(name: "size", value: .string(template(.reference(.file(.size))))),
                ]))),
            capture: [Capture(name: "upload_id", source: .json(pointer: "/id"))], validFor: .seconds(3_600)),
          transfer: .init(
            request: RequestTemplate(
              method: "PUT",
              url: template(
                .literal(api + "/uploads/"), .reference(.allocate("upload_id")), .literal("/content")),
              headers: [.init(name: "Content-Type", value: Template(literal: "image/jpeg"))]),
            expect: Expectation(status: [200, 201, 204])),
          commit: .init(
            session: quick,
            request: RequestTemplate(
              method: "POST",
              url: template(
                .literal(api + "/uploads/"), .reference(.allocate("upload_id")), .literal("/commit")),
              body: .json(
                .object([.init(name: "sha256", value: .string(template(.reference(.file(.sha256)))))]))),
            alreadyDone: [409]))
      ],
      fetches: [
        Fetch(
          name: located("catalog"), session: quick, token: located("login"), needs: [located("photos")],
          interval: .minimum(.seconds(900)),
          request: RequestTemplate(url: Template(literal: api + "/catalog.json")),
          saveTo: "catalog.json")
      ],
      requests: [
        SingleRequest(
          name: located("notify"), session: quick, needs: [located("photos"), located("catalog")],
          when: .always,
          request: RequestTemplate(
            method: "POST", url: Template(literal: api + "/done"),
            body: .json(
              .object([
                .init(name: "run", value: .string(template(.reference(.run(.id))))),
                .init(name: "failed", value: .string(template(.reference(.run(.failed))))),
              ]))))
      ])
    #expect(reading.manifest == expected)
  }

  @Test func `may follow a Location that changes at every step`() {
    let upload = read(
      head + """
        uploads:
          blobs:
            session: long
            files: { list: "-", null: true }
            priority: high
            allocate: { request: { url: http://h/uploads/ }, capture: { at: { header: Location } } }
            transfer:
              protocol: post
              token: none
              request: { url: "${allocate.at}", method: PATCH }
              capture: { at: { header: Location } }
            commit: { request: { method: PUT, url: "${transfer.at}&digest=sha256:${file.sha256}" } }
        """
    ).manifest?.uploads.first
    #expect(upload?.allocate?.request.method == "POST")
    #expect(upload?.transfer.request.method == "PATCH")
    #expect(upload?.transfer.token == Upload.StepToken.none)
    #expect(upload?.priority == 0.75)
    #expect(upload?.files.source == .list("-", nullSeparated: true))
    #expect(upload?.commit?.request.url.references == [.transfer("at"), .file(.sha256)])
  }

  @Test(arguments: [
    ("allocate: { request: { url: http://h/ } }", "POST", "PUT"),
    ("commit: { request: { url: http://h/ } }", "POST", "PUT"),
  ])
  func `gets its methods from the steps`(_ step: String, _ method: String, _ transfer: String) {
    let upload = read(
      head + """
        uploads:
          u:
            session: quick
            files: {}
            transfer: { request: { url: http://h/ } }
            \(step)
        """
    ).manifest?.uploads.first
    #expect(upload?.allocate?.request.method ?? upload?.commit?.request.method == method)
    #expect(upload?.transfer.request.method == transfer)
    #expect(upload?.files == FileSelection(root: ".", source: .globs(include: ["**"], exclude: [])))
  }

  @Test func `sends a POST where a request has a body, and a GET where it has none`() {
    let requests = read(
      head + """
        requests:
          a: { session: quick, request: { url: http://h/ } }
          b: { session: quick, request: { url: http://h/, json: null } }
          c: { session: quick, request: { url: http://h/, form: {}, method: PATCH } }
        """
    ).manifest?.requests
    #expect(requests?.map(\.request.method) == ["GET", "POST", "PATCH"])
  }

  @Test func `keeps the types of JSON`() {
    let body = read(
      head
        + "requests: { a: { session: quick, request: { url: http://h/, json: [1, 1.5, true, ~, no, \"2\"] } } }"
    ).manifest?.requests.first?.request.body
    #expect(
      body
        == .json(
          .array([
            .integer(1), .number(1.5), .bool(true), .null, .string(Template(literal: "no")),
            .string(Template(literal: "2")),
          ])))
  }
}

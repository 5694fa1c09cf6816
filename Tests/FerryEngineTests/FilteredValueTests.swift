import FerryManifest
import FerryPlan
import FerryTransfer
import Testing

@testable import FerryEngine

@Suite struct `A filtered value in a request` {
  private func bindings(path: [UInt8] = Array("Bücher/A b&c.txt".utf8)) -> Bindings {
    Bindings(
      secrets: ["login": SensitiveValue("ferry:a b")],
      file: FileValues(path: path, size: 12, modified: 0, sha256: "AB"),
      token: ["access": SensitiveValue("T k")],
      allocate: ["dots": .plain(".."), "none": .plain(""), "host": .plain("H.EXAMPLE"), "at": .plain("a@b")])
  }

  private func reference(_ reference: Reference, _ filters: ReferenceFilter...) -> Template.Segment {
    .reference(reference, filters: filters)
  }

  private func url(_ segments: Template.Segment...) throws -> String {
    try RequestBuilder(RequestTemplate(url: Template(segments))).build(bindings()).url
  }

  private func body(_ body: RequestTemplate.Body) throws -> String {
    let template = RequestTemplate(method: "POST", url: Template(literal: "http://h/"), body: body)
    guard case .bytes(let bytes) = try RequestBuilder(template).build(bindings()).body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `is not percent-encoded a second time in a URL if its filters have done it`() throws {
    let slash = Template.Segment.literal("http://h/")
    let path = Reference.file(.path)
    #expect(try url(slash, reference(path, .url)) == "http://h/B%C3%BCcher/A%20b%26c.txt")
    #expect(try url(slash, reference(path, .query)) == "http://h/B%C3%BCcher%2FA%20b%26c.txt")
    #expect(try url(slash, reference(path, .url, .lower)) == "http://h/b%c3%bccher/a%20b%26c.txt")
    let query = Template.Segment.literal("http://h/?p=")
    #expect(try url(query, reference(path, .url)) == "http://h/?p=B%C3%BCcher/A%20b%26c.txt")
    #expect(try url(query, reference(path, .query)) == "http://h/?p=B%C3%BCcher%2FA%20b%26c.txt")
    #expect(
      try url(.literal("http://h/#"), reference(path, .url)) == "http://h/#B%C3%BCcher/A%20b%26c.txt")
    // The manifest requests the encoding twice.
    #expect(try url(slash, reference(.file(.stem), .url, .url)) == "http://h/A%2520b%2526c")
  }

  @Test func `is percent-encoded for its place in a URL after other filters`() throws {
    let slash = Template.Segment.literal("http://h/")
    let path = Reference.file(.path)
    #expect(try url(slash, reference(path, .lower)) == "http://h/b%C3%BCcher/a%20b%26c.txt")
    #expect(
      try url(slash, reference(path, .base64), .literal("?"), reference(path, .base64))
        == "http://h/QsO8Y2hlci9BIGImYy50eHQ%3D?QsO8Y2hlci9BIGImYy50eHQ%3D")
    #expect(try url(slash, reference(path, .json)) == "http://h/B%5Cu00fccher%2FA%20b%26c.txt")
    #expect(try url(slash, reference(.file(.sha256), .lower)) == "http://h/ab")
    #expect(
      try url(slash, reference(path, .url, .base64)) == "http://h/QiVDMyVCQ2NoZXIvQSUyMGIlMjZjLnR4dA%3D%3D")
  }

  @Test func `is checked in a URL as any other value`() throws {
    let host = Template.Segment.literal("http://")
    #expect(try url(host, reference(.allocate("host"), .lower), .literal("/")) == "http://h.example/")
    for filters in [[], [.url], [.query]] as [[ReferenceFilter]] {
      #expect(throws: TransportFailure.self) {
        try url(host, .reference(.allocate("at"), filters: filters), .literal("/"))
      }
      #expect(throws: TransportFailure.self) {
        try url(.literal("http://h/a/"), .reference(.allocate("dots"), filters: filters), .literal("/b"))
      }
      #expect(throws: TransportFailure.self) {
        try url(.literal("http://h/a/"), .reference(.allocate("none"), filters: filters))
      }
    }
  }

  @Test func `is in a header field as it is`() throws {
    let path = Reference.file(.path)
    let template = RequestTemplate(
      url: Template(literal: "http://h/"),
      headers: [
        .init(name: "Destination", value: Template([.literal("http://h/"), reference(path, .url)])),
        .init(
          name: "Dropbox-API-Arg", value: Template([.literal("{\"path\": \"/"), reference(path, .json)])),
        .init(name: "Upload-Metadata", value: Template([.literal("filename "), reference(path, .base64)])),
      ])
    #expect(
      try RequestBuilder(template).build(bindings()).headers.map(\.value) == [
        "http://h/B%C3%BCcher/A%20b%26c.txt", #"{"path": "/B\u00fccher/A b&c.txt"#,
        "filename QsO8Y2hlci9BIGImYy50eHQ=",
      ])
  }

  @Test func `may be ASCII in a header field where the value itself is not UTF-8`() throws {
    let template = RequestTemplate(
      url: Template(literal: "http://h/"),
      headers: [
        .init(name: "X-Plain", value: Template([reference(.file(.name))])),
        .init(name: "X-Name", value: Template([reference(.file(.name), .query)])),
      ])
    #expect(
      try RequestBuilder(template).build(bindings(path: [0x61, 0xFF])).headers.map(\.value)
        == ["a\u{FFFD}", "a%FF"])
  }

  @Test func `is encoded with the whole text in a form and in JSON, where it is text`() throws {
    func leaf(_ segments: Template.Segment...) -> JSONTemplate { .string(Template(segments)) }
    let name = Reference.file(.name)
    #expect(
      try body(.form([.init(name: "u", value: Template([.literal("/?n="), reference(name, .query)]))]))
        == "u=%2F%3Fn%3DA%2520b%2526c.txt")
    #expect(
      try body(
        .json(
          .array([
            leaf(reference(.file(.size))), leaf(reference(.file(.size), .lower)),
            leaf(.literal("{\"n\": \""), reference(.file(.path), .json), .literal("\"}")),
          ]))) == #"[12,"12","{\"n\": \"B\\u00fccher/A b&c.txt\"}"]"#)
  }

  @Test func `is as sensitive as the value`() throws {
    let template = RequestTemplate(
      method: "POST",
      url: Template([.literal("http://h/"), reference(.secret("login"), .sha256)]),
      headers: [
        .init(name: "X-Login", value: Template([.literal("Basic "), reference(.secret("login"), .base64)])),
        .init(name: "X-Name", value: Template([reference(.file(.name), .base64)])),
      ],
      body: .json(.string(Template([reference(.token("access"), .lower, .json)]))))
    let built = try RequestBuilder(template, isURLCaptured: true).build(bindings())
    #expect(built.headers.first?.value == "Basic ZmVycnk6YSBi")
    #expect(built.headers.first?.sensitivity == .init(.request, values: ["secrets.login"]))
    #expect(built.headers[1].sensitivity == nil)
    #expect(built.sensitive.url == ["secrets.login"])
    #expect(built.sensitive.body == ["token.access"])
  }

  @Test(arguments: [ReferenceFilter.json, .lower])
  func `fails the item if it must be UTF-8 and is not`(_ filter: ReferenceFilter) {
    let template = RequestTemplate(
      url: Template(literal: "http://h/"),
      headers: [
        .init(name: "X", value: Template([reference(.file(.name), .url), reference(.file(.path), filter)]))
      ]
    )
    #expect(
      throws: TransportFailure(
        .request,
        "${file.path | \(filter.rawValue)}: the value is not UTF-8, which the filter '\(filter.rawValue)' requires",
        mayHaveReachedServer: false)
    ) { try RequestBuilder(template).build(bindings(path: [0x61, 0xFF])) }
  }

  // MARK: Masking

  private static let secret = "päss/wört \"1\""

  @Test(
    arguments: [
      [.json], [.sha256], [.lower, .sha256], [.base64, .base64], [.url, .base64], [.query, .url],
      [.json, .base64],
      [.sha256, .base64],
    ] as [[ReferenceFilter]])
  func `is masked if it is secret`(_ filters: [ReferenceFilter]) throws {
    let shown = String(decoding: try filters.apply(to: Array(Self.secret.utf8)), as: UTF8.self)
    // The mask finds a secret under at most two layers of escapes and percent-encoding.
    let isRemoved = [[.json], [.query, .url]].contains(filters)
    #expect(SecretMask([Self.secret]).mask(shown) == (isRemoved ? "***" : shown))
    var mask = SecretMask([Self.secret], filters: [filters])
    #expect(mask.mask("a \(shown) b \(Self.secret)") == "a *** b ***")
    let encoded = String(decoding: try ReferenceFilter.query.apply(to: Array(shown.utf8)), as: UTF8.self)
    #expect(mask.mask("a \(encoded) b") == "a *** b")
    mask.retire(Self.secret)
    #expect(mask.mask("a \(shown) b \(Self.secret)") == "a *** b ***")
  }

  @Test func `may be shorter than the secret`() {
    let long = String(repeating: "x", count: 1_000)
    #expect(!SecretMask(filters: [[.base64]]).mayOccur(1_000, in: 64))
    #expect(SecretMask(filters: [[.lower, .sha256]]).mayOccur(1_000, in: 64))
    #expect(!SecretMask(filters: [[.lower, .sha256]]).mayOccur(1_000, in: 63))
    var item = ItemValues()
    item.allocate = [CapturedValue(name: "id", value: long, isSecret: true)]
    let store = ItemValueStore([ItemRef(NodeID(0), 1): item], secrets: [], filters: [[.sha256]])
    #expect(store.masked("44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f") == "***")
  }

  @Test func `is masked wherever a manifest has the filters`() throws {
    let run = try TestRun(
      """
      requests:
        a: { session: s, request: { url: "http://h/", headers: { X: "${secrets.key | sha256}" } } }
        b: { session: s, request: { url: "http://h/${run.id | base64 | base64}" } }
      """, files: [], secret: "abc")
    #expect(run.job.plan.secretFilters == [[.sha256]])
    #expect(
      run.captures.masked("x ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad y") == "x *** y"
    )
  }
}

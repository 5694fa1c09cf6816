import FerryManifest
import FerryPlan
import FerryTransfer
import Testing

@testable import FerryEngine

struct RequestBuilderTests {
  private let file = FileValues(
    path: Array("été/a b#?.tar.gz".utf8), size: 12, modified: 1_763_705_025_900_000_000, sha256: "ab01")

  private func bindings() -> Bindings {
    Bindings(
      secrets: ["key": SensitiveValue("s&c r/t")], file: file, token: ["access": SensitiveValue("tok")],
      allocate: [
        "id": .plain("1/2"), "location": .plain("/up/7?x=1"), "up": .plain(".."), "none": .plain(""),
        "u": .sensitive(SensitiveValue("http://h/signed")),
      ],
      requests: ["first": ["n": .plain("9"), "s": .sensitive(SensitiveValue("hush"))]],
      run: .init(id: "r1", done: 3, failed: 1, exitCode: .temporary))
  }

  private func url(_ segments: Template.Segment..., base: String? = nil) throws -> String {
    try RequestBuilder(RequestTemplate(url: Template(segments))).build(bindings(), base: base).url
  }

  private func body(_ body: RequestTemplate.Body, _ bindings: Bindings? = nil) throws -> String {
    let template = RequestTemplate(method: "POST", url: Template(literal: "http://h/"), body: body)
    let built = try RequestBuilder(template).build(bindings ?? self.bindings())
    guard case .bytes(let bytes) = built.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("http://h/a", "http://h/a?x=a%20b%23%3F.tar.gz&k%26=s%26c%20r%2Ft"),
    ("http://h/a?b=c#f", "http://h/a?b=c&x=a%20b%23%3F.tar.gz&k%26=s%26c%20r%2Ft#f"),
    ("http://h/a?", "http://h/a?x=a%20b%23%3F.tar.gz&k%26=s%26c%20r%2Ft"),
  ])
  func `parameters are added to the query of the URL, before its fragment`(_ url: String, _ whole: String)
    throws
  {
    var template = RequestTemplate(url: Template(literal: url))
    template.query = [
      .init(name: "x", value: Template([.reference(.file(.name))])),
      .init(name: "k&", value: Template([.reference(.secret("key"))])),
    ]
    let built = try RequestBuilder(template).build(bindings())
    #expect(built.url == whole)
    // A secret in a parameter keeps the request at its origin.
    #expect(built.sensitive.url == ["secrets.key"])
    template.query = [.init(name: "x", value: Template([.reference(.file(.name), filters: [.query])]))]
    #expect(
      try RequestBuilder(template).build(bindings()).url.hasSuffix(
        "x=a%20b%23%3F.tar.gz" + (url.hasSuffix("f") ? "#f" : "")))
  }

  @Test func valuesAreEncodedForTheirPlaceInTheURL() throws {
    let slash = Template.Segment.literal("http://h/")
    #expect(try url(slash, .reference(.file(.path))) == "http://h/%C3%A9t%C3%A9/a%20b%23%3F.tar.gz")
    #expect(try url(slash, .reference(.file(.name))) == "http://h/a%20b%23%3F.tar.gz")
    #expect(try url(slash, .reference(.file(.stem))) == "http://h/a%20b%23%3F.tar")
    #expect(try url(slash, .reference(.file(.extension))) == "http://h/gz")
    #expect(try url(slash, .reference(.allocate("id")), .literal("/c")) == "http://h/1%2F2/c")
    #expect(try url(.literal("http://h?k="), .reference(.secret("key"))) == "http://h?k=s%26c%20r%2Ft")
    #expect(try url(.literal("http://h/?a=%20/é#"), .value("a b")) == "http://h/?a=%20/é#a%20b")
    #expect(try url(.literal("http://"), .value("h:80"), .literal("/x")) == "http://h:80/x")
    #expect(try url(slash, .reference(.file(.modified))) == "http://h/2025-11-21T06%3A03%3A45Z")
  }

  @Test func bytesThatAreNotUTF8ArePercentEncodedOneByOne() throws {
    var bindings = bindings()
    bindings.file = FileValues(path: [0x61, 0xFF, 0x2F, 0xE9], size: 0, modified: 0)
    let template = RequestTemplate(url: Template([.literal("http://h/"), .reference(.file(.path))]))
    #expect(try RequestBuilder(template).build(bindings).url == "http://h/a%FF/%E9")
  }

  @Test func aReferenceAtTheBeginningIsTakenAsAURL() throws {
    let location = Template.Segment.reference(.allocate("location"))
    #expect(try url(location, base: "https://h:1/a/b?q") == "https://h:1/up/7?x=1")
    #expect(try url(.value("http://x/a%2Fb"), .literal("/c")) == "http://x/a%2Fb/c")
    #expect(throws: TransportFailure.self) { try url(location) }
  }

  @Test func anythingButAnHTTPURLIsRejected() {
    for text in ["ftp://h/", "http:///x", "http://h/a b", "http://h/\u{1}", "file:///etc", "h/x", ""] {
      #expect(throws: TransportFailure.self, "\(text)") { try url(.value(text)) }
    }
    #expect(throws: TransportFailure.self) { try url(.literal("http://"), .value("a@b"), .literal("/")) }
    #expect(throws: TransportFailure.self) {
      try url(.literal("http://h/a/"), .reference(.allocate("up")), .literal("/c"))
    }
  }

  @Test(arguments: [".", "..", "%2e", ".%2E", "x"])
  func aValueMakesNoDotSegmentTogetherWithTheTextAroundIt(_ text: String) throws {
    let none = Template.Segment.reference(.allocate("none"))
    func built(_ before: String, _ after: String) throws -> String {
      try url(.literal("http://h/a/" + before), none, .literal(after))
    }
    guard text == "x" else {
      #expect(throws: TransportFailure.self) { try built(text, "/c") }
      #expect(throws: TransportFailure.self) { try built("", text) }
      return
    }
    #expect(try built(text, "/c") == "http://h/a/x/c")
  }

  /// A server that returns an empty capture must not cause a request to release all uploads instead of one.
  @Test(arguments: ["", "/", "/c", "?q=1", "#f"])
  func anEmptyCaptureIsNoPathSegment(_ end: String) throws {
    let none = Template.Segment.reference(.allocate("none"))
    let failure = #expect(throws: TransportFailure.self) {
      try url(.literal("http://h/uploads/"), none, .literal(end))
    }
    #expect(failure?.message.contains("${allocate.none} is empty") == true)
    // An empty capture is allowed as part of a segment or of the query.
    #expect(try url(.literal("http://h/up-"), none, .literal(end)) == "http://h/up-" + end)
    #expect(try url(.literal("http://h/up?id="), none) == "http://h/up?id=")
    // A value that the user leaves empty is used unchanged.
    #expect(try url(.literal("http://h/up/"), .value(""), .literal(end)) == "http://h/up/" + end)
  }

  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("./g/.", "http://a/b/c/g/"),
    ("g;x=1/../y", "http://a/b/c/y"),
    // In Swift, a combining mark and the delimiter before it are one `Character`, but the delimiter still counts.
    ("/\u{301}g", "http://a/\u{301}g"), ("//h/\u{301}@g", "http://h/\u{301}@g"),
    ("../\u{301}", "http://a/b/\u{301}"),
    ("g?y/../x", "http://a/b/c/g?y/../x"), ("http://x/%2e%2F", "http://x/%2e%2F"),
  ]) func referencesResolveAsInRFC3986(_ reference: String, _ resolved: String) {
    #expect(
      URLReference(reference).resolved(against: URLReference("http://a/b/c/d;p?q")).description == resolved)
  }

  @Test(arguments: [
    ("http://h/f", "http://h/f"), ("http://h/f?", "http://h/f"), ("http://h/f#x", "http://h/f"),
    ("http://h/%66", "http://h/f"), ("http://h/x/%2e%2E/f", "http://h/f"), ("http://h/x/../f", "http://h/f"),
    ("HTTP://H/f", "http://h/f"), ("http://h", "http://h/"), ("http://h/f?%71=%7e", "http://h/f?q=~"),
    // Reserved characters are different with and without percent-encoding.
    ("http://h/a%2ff%3f", "http://h/a%2Ff%3F"), ("http://h/%6", "http://h/%6"), ("http://h/%", "http://h/%"),
    ("http://h/%2566", "http://h/%2566"), ("http://h/f/", "http://h/f/"), ("http://h/F", "http://h/F"),
  ]) func urlsAreNormalizedAsInRFC3986(_ url: String, _ normalized: String) {
    #expect(URLReference(url).normalized.description == normalized)
  }

  @Test func aReferenceWithoutAValueIsNamed() {
    #expect(
      throws: TransportFailure(.request, "${secrets.nope} has no value", mayHaveReachedServer: false)
    ) { try url(.literal("http://h/"), .reference(.secret("key")), .reference(.secret("nope"))) }
  }

  @Test func laterHeadersReplaceEarlierOnesAndSensitiveOnesAreMarked() throws {
    let template = RequestTemplate(
      url: Template(literal: "http://h/"),
      headers: [
        .init(name: "user-agent", value: Template(literal: "mine")),
        .init(name: "X-Key", value: Template([.reference(.secret("key"))])),
        .init(name: "Authorization", value: Template(literal: "Basic x")),
      ])
    let built = try RequestBuilder(
      template, sessionHeaders: [.init(name: "User-Agent", value: Template(literal: "ferry"))],
      apply: .init(
        .header("authorization"), value: Template([.literal("Bearer "), .reference(.token("access"))]))
    ).build(bindings())
    #expect(
      built.headers == [
        .init(name: "user-agent", value: "mine"),
        .init(name: "X-Key", value: "s&c r/t", sensitivity: .init(.request, values: ["secrets.key"])),
        .init(
          name: "authorization", value: "Bearer tok", sensitivity: .init(.token, values: ["token.access"])),
      ])
  }

  @Test func sensitiveValuesAreNamedByTheirLocation() throws {
    let template = RequestTemplate(
      method: "POST",
      url: Template([.reference(.allocate("u")), .literal("?k="), .reference(.secret("key"))]),
      headers: [
        .init(name: "X-Id", value: Template([.reference(.allocate("id"))])),
        .init(name: "X-S", value: Template([.reference(.request(name: "first", capture: "s"))])),
        .init(name: "Cookie", value: Template(literal: "a=b")),
        .init(name: "X-Api-Key", value: Template([.reference(.allocate("id"))])),
      ],
      body: .form([.init(name: "t", value: Template([.reference(.token("access"))]))]))
    let built = try RequestBuilder(
      template, sessionHeaders: [.init(name: "X-Session", value: Template([.reference(.secret("key"))]))],
      isURLCaptured: true
    ).build(bindings())
    #expect(built.sensitive.urlBeginning == ["allocate.u"])
    #expect(built.sensitive.url == ["secrets.key"])
    #expect(built.sensitive.body == ["token.access"])
    #expect(built.sensitive.isURLCaptured)
    #expect(
      built.headers.map(\.sensitivity) == [
        .init(.session, values: ["secrets.key"]), nil, .init(.request, values: ["requests.first.s"]),
        .init(.request), nil, nil,
      ])
  }

  /// The name of an authentication scheme is not a credential. Any other text of the manifest may be.
  @Test(arguments: [("Bearer ", true), ("", true), ("Custom key=plain t=", false), ("sid=plain; t=", false)])
  func aCredentialThatTheManifestCombinesWithACaptureIsSensitive(literal: String, mayGo: Bool) throws {
    let value = Template([.literal(literal), .reference(.allocate("id"))])
    let template = RequestTemplate(
      url: Template([.reference(.allocate("u"))]), headers: [.init(name: "Authorization", value: value)])
    let built = try RequestBuilder(template, isURLCaptured: true).build(bindings())
    #expect((built.headers.first?.sensitivity == nil) == mayGo)
  }

  @Test func aPasswordBeforeACapturedHostIsSensitive() throws {
    let url = Template([.literal("http://user:plain@"), .reference(.allocate("host")), .literal("/x")])
    var bindings = bindings()
    bindings.allocate["host"] = .plain("h")
    let built = try RequestBuilder(RequestTemplate(url: url), isURLCaptured: true).build(bindings)
    #expect(built.sensitive.url == ["the URL's user name and password"])
  }

  @Test(arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\0b"]) func headerInjectionIsRefused(_ value: String) {
    let template = RequestTemplate(
      url: Template(literal: "http://h/"),
      headers: [.init(name: "X", value: Template([.reference(.allocate("id"))]))])
    let failure = #expect(throws: TransportFailure.self) {
      try RequestBuilder(template).build(Bindings(allocate: ["id": .plain(value)]))
    }
    #expect(failure?.code == .request && failure?.mayHaveReachedServer == false)
  }

  @Test func formsAreEncoded() throws {
    let text = try body(
      .form([
        .init(name: "a b", value: Template(literal: "é+&=*~")),
        .init(name: "k", value: Template([.reference(.secret("key"))])),
      ]))
    #expect(text == "a+b=%C3%A9%2B%26%3D*%7E&k=s%26c+r%2Ft")
  }

  @Test func aJSONLeafThatIsOneReferenceKeepsItsType() throws {
    func leaf(_ reference: Reference) -> JSONTemplate { .string(Template([.reference(reference)])) }
    let json = JSONTemplate.object([
      .init(name: "z", value: leaf(.file(.size))), .init(name: "m", value: leaf(.file(.modified))),
      .init(name: "run", value: .array([leaf(.run(.done)), leaf(.run(.failed)), leaf(.run(.exitCode))])),
      .init(name: "text", value: .string(Template([.literal("n="), .reference(.file(.size))]))),
      .init(name: "capture", value: leaf(.request(name: "first", capture: "n"))),
      .init(name: "q\"\\\n\u{1}", value: .null), .init(name: "b", value: .bool(true)),
      .init(name: "i", value: .integer(.min)), .init(name: "d", value: .number(0.5)),
    ])
    #expect(
      try body(.json(json))
        == #"{"z":12,"m":"2025-11-21T06:03:45Z","run":[3,1,5],"text":"n=12","capture":"9","#
        + #""q\"\\\n\u0001":null,"b":true,"i":-9223372036854775808,"d":0.5}"#)
  }

  @Test func aNameThatIsNotUTF8IsReplacedInJSON() throws {
    let file = FileValues(path: [0x61, 0xFF, 0x22], size: 0, modified: 0)
    let json = JSONTemplate.string(Template([.reference(.file(.name))]))
    #expect(try body(.json(json), Bindings(file: file)) == "\"a\u{FFFD}\\\"\"")
  }

  @Test func theContentTypeIsSetUnlessGiven() throws {
    let given = RequestTemplate.Field(name: "content-type", value: Template(literal: "a/b"))
    for (headers, expected) in [([], "application/json"), ([given], "a/b")] {
      let template = RequestTemplate(
        url: Template(literal: "http://h/"), headers: headers, body: .json(.null))
      #expect(try RequestBuilder(template).build(Bindings()).headers.map(\.value) == [expected])
    }
  }
}

@Suite struct `A form with a file` {
  private func parts(
    _ form: MultipartForm, name: String = "a.jpg"
  ) throws -> (parts: FormParts?, sensitive: [String], headers: [String]) {
    let bindings = Bindings(
      secrets: ["key": SensitiveValue("s\r\n&c")],
      file: FileValues(path: Array("in/\(name)".utf8), size: 12, modified: 0, sha256: "ab01"),
      allocate: ["text": .plain("x\0y"), "none": .plain(""), "line": .plain("image/jpeg\r\nX: y")])
    let template = RequestTemplate(
      method: "POST", url: Template(literal: "http://h/"), body: .multipart(form))
    let built = try RequestBuilder(template).build(bindings)
    guard case .none = built.body else { throw TransportFailure(.request, "", mayHaveReachedServer: false) }
    return (built.form, built.sensitive.body, built.headers.map(\.name))
  }

  private func message(_ form: MultipartForm) -> String? {
    do {
      _ = try parts(form)
      return nil
    } catch {
      return (error as? TransportFailure)?.message
    }
  }

  @Test func `has the values of its references, unencoded`() throws {
    let built = try parts(
      MultipartForm(
        fields: [.init(name: "a b", value: Template([.literal("x="), .reference(.file(.stem))]))],
        file: .init(
          field: "photo", contentType: Template([.literal("image/"), .reference(.file(.extension))])),
        fieldsAfter: [.init(name: "sum", value: Template([.reference(.file(.sha256))]))]),
      name: "ä \"%41.jpg")
    #expect(
      built.parts
        == FormParts(
          before: [.init(name: Array("a b".utf8), value: Array("x=ä \"%41".utf8))],
          file: .init(
            field: Array("photo".utf8), name: Array("ä \"%41.jpg".utf8), contentType: Array("image/jpg".utf8)),
          after: [.init(name: Array("sum".utf8), value: Array("ab01".utf8))]))
    #expect(built.sensitive == [] && built.headers == [])
  }

  @Test func `is sensitive if any of its texts contains a secret`() throws {
    let secret = Template([.literal("k="), .reference(.secret("key"))])
    let field = MultipartForm.Field(name: "a", value: secret)
    #expect(try parts(MultipartForm(fields: [field])).sensitive == ["secrets.key"])
    #expect(try parts(MultipartForm(fieldsAfter: [field, field])).sensitive == ["secrets.key"])
    #expect(try parts(MultipartForm(file: .init(name: secret))).sensitive == ["secrets.key"])
    // A value may contain any bytes, because the boundary marks its end.
    #expect(try parts(MultipartForm(fields: [field])).parts?.before[0].value == Array("k=s\r\n&c".utf8))
  }

  @Test func `is not sent with a name or type that a server would misread`() {
    func text(_ capture: String) -> Template { Template([.reference(.allocate(capture))]) }
    #expect(message(MultipartForm(file: .init(name: text("none")))) == "the file name in the form is empty")
    #expect(
      message(MultipartForm(file: .init(name: text("text")))) == "the file name in the form contains NUL")
    let type = "a content type in the form is empty or contains a byte that is not printable ASCII"
    #expect(message(MultipartForm(file: .init(contentType: text("none")))) == type)
    #expect(message(MultipartForm(file: .init(contentType: text("line")))) == type)
    #expect(
      message(
        MultipartForm(fields: [.init(name: "a", value: Template([]), contentType: text("line"))])) == type)
  }
}

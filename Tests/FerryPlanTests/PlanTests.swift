import FerryManifest
import FerryPlan
import Testing

struct PlanTests {
  @Test func dependenciesComeFirst() throws {
    let plan = try Plan(
      yaml: Yaml.put("    needs: [b]\n") + """
        requests:
          c: { session: s, request: { url: "http://h/${requests.a.id}" } }
          b: { session: s, needs: [c], request: { url: "http://h/b" } }
          a: { session: s, capture: { id: { json: /id } }, request: { url: "http://h/a" } }

        """)
    #expect(plan.nodes.map(\.name) == ["a", "c", "b", "up"])
    #expect(plan.nodes.map { $0.needs.map(\.index) } == [[], [0], [1], [2]])
  }

  @Test func aNeedThatIsAlsoReferencedIsOneDependency() throws {
    let plan = try Plan(
      yaml: Yaml.head + """
        requests:
          a: { session: s, capture: { id: { json: /id } }, request: { url: "http://h/a" } }
          b: { session: s, needs: [a], request: { url: "http://h/${requests.a.id}" } }

        """)
    #expect(try plan.node("b").needs == [NodeID(0)])
  }

  @Test func repeatabilityFollowsFromMethodAndSteps() throws {
    func repeats(_ yaml: String) throws -> [Step.Repeatability] {
      try Plan(yaml: yaml).nodes[0].steps.map(\.repeatability)
    }
    #expect(try repeats(Yaml.put()) == [.repeatable])
    #expect(try repeats(Yaml.post()) == [.once])
    #expect(try repeats(Yaml.ids()) == [.repeatable, .repeatable, .repeatable])
    #expect(try repeats(Yaml.ids(alreadyDone: "")) == [.repeatable, .repeatable, .once])
    let key = "idempotency_key: { header: Idempotency-Key }"
    #expect(try repeats(Yaml.ids(alreadyDone: key)) == [.repeatable, .repeatable, .repeatable])
    let probe = "probe: { request: { method: POST, url: \"http://host/p\" } }"
    #expect(
      try repeats(Yaml.ids(alreadyDone: probe)) == [.repeatable, .repeatable, .afterProbe, .repeatable])
    #expect(try repeats(Yaml.ids(method: "PATCH")) == [.repeatable, .startsOver, .repeatable])
  }

  @Test(arguments: [
    ("GET", Step.Repeatability.repeatable), ("PUT", .repeatable), ("DELETE", .repeatable), ("POST", .once),
    ("PATCH", .once), ("MKCOL", .repeatable), ("PROPFIND", .repeatable), ("MOVE", .once), ("COPY", .once),
  ])
  func aRequestIsRepeatedIfItsMethodIsIdempotent(method: String, expected: Step.Repeatability) throws {
    let plan = try Plan(
      yaml: Yaml.head
        + "requests: { a: { session: s, request: { method: \(method), url: \"http://h/\" } } }\n")
    #expect(plan.nodes[0].steps[0].repeatability == expected)
  }

  @Test func aTokenRequestMayBeRepeated() throws {
    let plan = try Plan(yaml: Yaml.put(head: Yaml.head + Yaml.token))
    #expect(try plan.node("login").steps[0].repeatability == .repeatable)
  }

  @Test(arguments: [
    ("http://h", "http://h"), ("HTTPS://Example.COM/x", "https://example.com"), ("http://h:80/", "http://h"),
    ("https://h:443?q", "https://h"), ("http://h:8080#f", "http://h:8080"),
    ("http://u:p@h:1/x@y", "http://h:1"),
    ("http://[::1]/", "http://[::1]"), ("http://[::1]:9/", "http://[::1]:9"), ("http://h:/", "http://h"),
    ("ftp://h/", nil), ("h/x", nil), ("http://", nil), ("http:///x", nil), ("http://h:0/", nil),
    ("https://a/\u{301}@b", "https://a"), ("https://a?\u{301}@b", "https://a"),
    ("http://h:65536/", nil), ("http://h:x/", nil), ("", nil),
  ])
  func anOriginIsSchemeHostAndPort(url: String, expected: String?) {
    #expect(Origin(url: url)?.description == expected)
  }

  @Test func anUnrecognizedOriginIsDistinguishedByItsHost() {
    let urls = [
      "http://h.1.:9/x", "http://h.1.:9/y", "https://h.1.:9/x", "http://h:99999/", "http://0x7f.1/",
    ]
    let keys = urls.map { Origin(unrecognized: $0) }
    #expect(keys[0] == keys[1] && Set(keys).count == 4)
    #expect(Origin(unrecognized: "http://u:p@H.1.:9/x") == keys[0])
    #expect(keys.allSatisfy { $0.port == 0 })
  }

  @Test func anOriginThatAReferenceDecidesIsNotKnown() {
    let id = Template.Segment.reference(.allocate("id"))
    #expect(Origin(Template([.literal("http://h/"), id]))?.description == "http://h")
    #expect(Origin(Template([.literal("http://h"), id])) == nil)
    #expect(Origin(Template([.literal("http://"), id, .literal("/x")])) == nil)
    #expect(Origin(Template([id])) == nil)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"), (1_600_000_000_250, "2020-09-13T12:26:40.250Z"),
    ] as [(Int64, String)])
  func aMomentIsWrittenAsRFC3339(milliseconds: Int64, text: String) {
    #expect(Instant(nanoseconds: milliseconds * 1_000_000).rfc3339 == text)
  }

  @Test func aMomentInANameHasNoSeparators() {
    #expect(Instant(nanoseconds: 1_600_000_000_250_000_000).compact == "20200913T122640Z")
  }

  @Test func theMostSevereExitCodeWins() {
    let order: [ExitCode] =
      [.interrupted, .terminated, .fault, .usage, .invalidManifest, .integrity, .authorization]
      + [.itemsFailed, .sessionInUse, .temporary, .cutOff, .deferred, .success]
    for (ref, code) in order.enumerated() { #expect(ExitCode.first(of: Set(order[ref...])) == code) }
    #expect(ExitCode.first(of: []) == .success)
    #expect(order.map(\.rawValue) == [130, 143, 70, 2, 3, 4, 7, 1, 6, 5, 10, 8, 0])
  }
}

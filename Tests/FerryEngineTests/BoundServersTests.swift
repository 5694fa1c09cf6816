import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// The servers to which an upload ID is bound, if captures of a token or a request name them.
struct BoundServersTests {
  private static let nodes = """
    tokens:
      login:
        session: s
        request: { url: "http://t/token" }
        capture: { access_token: { json: /t, secret: true }, base: { json: /base } }
        apply: { header: Authorization, value: "Bearer ${token.access_token}" }
    uploads:
      u:
        session: s
        token: login
        files: { root: files }
        allocate: { request: { url: "${token.base}/ids" }, capture: { id: { json: /id } } }
        transfer: { request: { url: "${token.base}/ids/${allocate.id}" } }
        commit: { request: { url: "http://c/${allocate.id}/commit" } }
        abandon: { request: { url: "${token.base}/ids/${allocate.id}" } }
    """

  @Test(arguments: [
    ("http://a", [String?](), "http://a"), ("http://a", ["http://a"], "http://a"),
    ("http://a", ["http://b"], "http://a commit=http://b"), ("http://a", [nil], "http://a commit=*"),
  ])
  func theServersAreStoredAsOneText(first: String, later: [String?], text: String) {
    let servers = BoundServers(first: first, later: later.map { (.commit, $0) })
    #expect(servers.text == text && BoundServers(text: text) == servers)
    #expect(servers.allows(.transfer, at: first) && !servers.allows(.transfer, at: "http://c"))
    let commit = later.first ?? first
    #expect(servers.allows(.commit, at: commit ?? "http://any"))
    #expect(servers.allows(.commit, at: "http://c") == (commit == nil))
  }

  @Test(arguments: [nil, "http://a", "http://a commit=http://b", " redirected=http://old"])
  func aRedirectIsAddedToTheServers(text: String?) {
    let before = text.map { BoundServers(text: $0) }
    let servers = BoundServers.redirected(before, to: "http://r")
    #expect(
      servers.redirectedTo == "http://r"
        && before?.redirectedTo == (text?.contains("old") == true ? "http://old" : nil))
    #expect(servers.server(of: .commit) == before?.server(of: .commit) ?? "")
    #expect(
      !servers.text.contains("old") && (servers.shown(.commit) == nil) == (before?.shown(.commit) == nil))
  }

  @Test(arguments: ["", " ", "commit=", "=x commit=y transfer"])
  func anyTextOfAJournalIsRead(text: String) {
    _ = BoundServers(text: text).allows(.commit, at: "http://a")
  }

  @Test func aStepIsSentOnlyToTheServerOfItsUploadID() throws {
    let run = try TestRun(Self.nodes, files: ["a"])
    let token = try run.attempt(.token)
    try run.respond(to: .token, body: #"{"t":"tok-1","base":"http://a/x"}"#)
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"17"}"#)
    #expect(run.captures[ref].servers?.text == "http://a")
    #expect(try run.request(.transfer).url == "http://a/x/ids/17")
    let step = try #require(run.job.plan.nodes[0].steps.first)
    // Another path on the same server may be another version of the API.
    run.captures.keep(Self.token("http://a/y"), of: token, step)
    #expect(try run.request(.transfer).url == "http://a/y/ids/17")
    run.captures.keep(Self.token("http://b/x"), of: token, step)
    let failure = TransportFailure(
      .otherServer, "its upload ID belongs to http://a, and its transfer would go to http://b",
      mayHaveReachedServer: false)
    #expect(throws: failure) { try run.request(.transfer) }
  }

  private static func token(_ base: String) -> [CapturedValue] {
    [
      CapturedValue(name: "access_token", value: "tok-2", isSecret: true),
      CapturedValue(name: "base", value: base, isSecret: false),
    ]
  }

  @Test func anIDWhoseServerIsNotRecordedIsNotUsed() throws {
    let run = try TestRun(Self.nodes, files: ["a"])
    try run.respond(to: .token, body: #"{"t":"tok-1","base":"http://a"}"#)
    let allocate = try run.attempt(.allocate)
    try run.respond(to: .allocate, body: #"{"id":"17"}"#)
    run.captures.forget(allocate.ref)
    let step = try #require(run.job.plan.nodes[allocate.ref.node.index].steps.first)
    run.captures.keep([CapturedValue(name: "id", value: "17", isSecret: false)], of: allocate, step)
    #expect {
      try run.request(.transfer)
    } throws: { error in
      (error as? TransportFailure)?.code == .otherServer
    }
  }

  /// The journal and messages must not reveal a secret.
  @Test func theServerOfASecretURLIsOnlyADigest() throws {
    let secret = Self.nodes.replacing("base: { json: /base }", with: "base: { json: /base, secret: true }")
    let run = try TestRun(secret, files: ["a"])
    try run.respond(to: .token, body: #"{"t":"tok-1","base":"http://sig123.example"}"#)
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"17"}"#)
    let servers = try #require(run.captures[ref].servers)
    #expect(servers.text.hasPrefix("sha256:") && !servers.text.contains("sig123"))
    #expect(servers.shown(.abandon) == nil)
    #expect(try run.request(.transfer).url == "http://sig123.example/ids/17")
  }

  @Test func anUploadWhoseServerTheManifestNamesHasNone() throws {
    let named = Self.nodes.replacing("${token.base}", with: "http://h")
    let run = try TestRun(named, files: ["a"])
    try run.respond(to: .token, body: #"{"t":"tok-1","base":"http://a"}"#)
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"17"}"#)
    #expect(run.captures[ref].servers == nil)
  }
}

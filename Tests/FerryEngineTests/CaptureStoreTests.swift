import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct CaptureStoreTests {
  private static let nodes = """
    tokens:
      login:
        session: s
        request: { url: "http://h/token" }
        capture: { access_token: { json: /t } }
        apply: { header: Authorization, value: "Bearer ${token.access_token}" }
    requests:
      hello: { session: s, request: { url: "http://h/hello" }, capture: { id: { json: /id } } }
    uploads:
      u:
        session: s
        needs: [hello]
        token: login
        files: { root: files }
        transfer: { request: { method: PUT, url: "http://h/${requests.hello.id}/${file.name}" } }
    """

  @Test func tokensAndRequestsAreAvailableToLaterRequests() throws {
    let run = try TestRun(Self.nodes, files: ["a"])
    let node = try run.attempt(.request).ref.node
    try run.respond(to: .request, body: #"{"id":"batch-1"}"#)
    #expect(run.captures.captures(of: node).map(\.value) == ["batch-1"])
    try run.respond(to: .token, body: #"{"t":"tok-123"}"#)
    let put = try run.request(.transfer)
    #expect(put.url == "http://h/batch-1/a")
    #expect(put.headers.first { $0.name == "Authorization" }?.value == "Bearer tok-123")
    // After its capture, the token is masked.
    #expect(run.captures.masked("it was tok-123") == "it was ***")
    #expect(run.captures.masked("batch-1") == "batch-1")
  }

  @Test func aCapturedURLWithoutARecognizedOriginHasItsOwnQueue() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate: { request: { url: "http://h/ids" }, capture: { at: { header: Location } } }
          transfer: { request: { method: PUT, url: "${allocate.at}/x" } }
      """
    func origin(of location: String) throws -> Origin? {
      let run = try TestRun(nodes, files: ["a"])
      return try run.respond(to: .allocate, headers: [("Location", location)]).response?.origins[.transfer]
    }
    #expect(try origin(of: "http://b:81/1") == Origin(scheme: "http", host: "b", port: 81))
    let dead = try origin(of: "http://0x7f.1:9/1")
    let invalid = try origin(of: "http://h:99999/1")
    #expect(dead != nil && invalid != nil && dead != invalid)
    // A request to a `file:` URL is never sent, so it has no origin.
    let file = try origin(of: "file:///etc/passwd")
    #expect(file == nil)
  }

  @Test func theCapturesOfAnItemAreForgottenAndItsSecretsStayMasked() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate:
            request: { url: "http://h/ids" }
            capture: { id: { json: /id, secret: true } }
          transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }
      """
    let run = try TestRun(nodes, files: ["a"])
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"id-secret"}"#)
    #expect(run.captures.masked("of id-secret") == "of ***")
    run.captures.forget(ref)
    #expect(run.captures[ref].allocate.isEmpty)
    #expect(run.captures.masked("of id-secret") == "of ***")
    #expect(run.captures.maskedOrigin("http://id-secret") == "http://id-secret")
  }

  @Test func aReissuedUploadIDIsRecovered() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate: { request: { url: "http://h/ids" }, capture: { id: { json: /id } } }
          transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }
          abandon: { request: { url: "http://h/${allocate.id}" } }
      """
    let run = try TestRun(nodes, files: ["a"])
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"i1"}"#)
    let orphan = ItemRef.orphan(0, of: ref.node)
    #expect(!run.captures.orphan(ref, as: orphan, isInDoubt: false, run.scheduler))
    #expect(run.captures[orphan].allocate.map(\.value) == ["i1"])
    #expect(run.captures.regained(by: ref, path: Array("a".utf8)) == [orphan])
    #expect(!run.captures.forget(orphan: orphan))
    #expect(run.captures.regained(by: ref, path: Array("a".utf8)).isEmpty)
  }

  /// A server may issue the same ID for files with equal content.
  @Test(arguments: [true, false])
  func anUploadIDThatAnotherItemHasIsInUse(isDelivered: Bool) throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate: { request: { url: "http://h/ids" }, capture: { id: { json: /id } } }
          transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }
          abandon: { request: { url: "http://h/${allocate.id}" } }
      """
    let run = try TestRun(nodes, files: ["a", "b", "c"])
    let first = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"same"}"#)
    let second = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"same"}"#)
    let third = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"id":"other"}"#)
    #expect(Set([first, second, third]).count == 3)
    if isDelivered { run.captures.forget(second, isDelivered: true) }
    #expect(run.captures.orphan(first, as: .orphan(0, of: first.node), isInDoubt: false, run.scheduler))
    #expect(!run.captures.orphan(third, as: .orphan(1, of: first.node), isInDoubt: false, run.scheduler))
    // No other item has this ID any longer.
    if !isDelivered {
      #expect(!run.captures.orphan(second, as: .orphan(2, of: first.node), isInDoubt: false, run.scheduler))
    }
  }

  private static func uploads(_ names: String...) -> String {
    "uploads:\n"
      + names.map { name in
        let abandon = name == "q" ? "\n    abandon: { request: { url: \"http://h/${allocate.id}\" } }" : ""
        return """
            \(name):
              session: s
              files: { root: files, include: ["\(name)*"] }
              allocate: { request: { url: "http://h/\(name)" }, capture: { id: { json: /id } } }
              transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }\(abandon)
          """
      }.joined(separator: "\n")
  }

  /// Gives the same ID to items of an upload.
  private static func allocate(_ count: Int, of upload: String, in run: TestRun) throws -> [ItemRef] {
    let node = try #require(run.job.plan.nodes.firstIndex { $0.name == upload })
    let step = try #require(run.job.plan.nodes[node].steps.first)
    return try (0..<count).map { item in
      var attempt = try run.attempt(.allocate)
      attempt.ref = ItemRef(NodeID(node), item)
      run.captures.keep([CapturedValue(name: "id", value: "same", isSecret: false)], of: attempt, step)
      return attempt.ref
    }
  }

  private static let files = (10..<30).map { "p\($0)" } + ["q1"]

  /// If another upload releases the value, it is an upload ID, however many files have it.
  @Test(arguments: [true, false])
  func anIDOfManyFilesIsSharedIfAnotherUploadReleasesIt(isReleased: Bool) throws {
    let run = try TestRun(Self.uploads("p", "q"), files: Self.files)
    let refs = try Self.allocate(20, of: "p", in: run)
    if isReleased { _ = try Self.allocate(1, of: "q", in: run) }
    for ref in refs { #expect(run.captures.forget(ref, isDelivered: true) == isReleased) }
  }

  /// The orphan's own upload does not release the ID in this run, but may release it in a later run.
  @Test(arguments: [true, false])
  func anOrphanWhoseIDAnotherItemHoldsIsInDoubtAtOnce(isHeld: Bool) throws {
    let run = try TestRun(Self.uploads("p", "q"), files: Self.files)
    let ref = try #require(try Self.allocate(1, of: "p", in: run).first)
    if isHeld { _ = try Self.allocate(1, of: "q", in: run) }
    let place = OrphansAside.Orphan(session: 0, row: 7)
    let orphan = ItemRef.orphan(0, of: ref.node)
    #expect(!run.captures.orphan(ref, as: orphan, isInDoubt: false, at: place, run.scheduler))
    #expect(run.captures.takeIssuedAgain().map(\.row) == (isHeld ? [7] : []))
  }

  @Test func aCaptureThatHoldsASecretCaptureOfItsItemIsSecretToo() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate:
            request: { url: "http://h/ids" }
            capture: { key: { json: /key, secret: true }, same: { json: /same }, other: { json: /other } }
          transfer:
            request: { method: PUT, url: "http://h/${allocate.other}" }
            capture: { later: { json: /later } }
      """
    let run = try TestRun(nodes, files: ["a"])
    let ref = try run.attempt(.allocate).ref
    try run.respond(to: .allocate, body: #"{"key":"k-123","same":"x-k-123","other":"o"}"#)
    #expect(run.captures[ref].allocate.map(\.isSecret) == [true, true, false])
    try run.respond(to: .transfer, body: #"{"later":"K=k-123"}"#)
    #expect(run.captures[ref].transfer.map(\.isSecret) == [true])
  }

  @Test func aURLLosesItsPasswordAlsoWhereItIsSecret() throws {
    let run = try TestRun("", files: [])
    let url = CapturedValue(name: "u", value: "http://me:pw@h/x", isSecret: true)
    #expect(run.captures.guarded([url], of: ItemRef(NodeID(0))).map(\.value) == ["http://h/x"])
  }
}

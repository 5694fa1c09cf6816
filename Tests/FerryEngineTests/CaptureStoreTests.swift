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

  @Test func tokensAndRequestsAreThereForLaterRequests() throws {
    let run = try TestRun(Self.nodes, files: ["a"])
    let node = try run.attempt(.request).ref.node
    try run.respond(to: .request, body: #"{"id":"batch-1"}"#)
    #expect(run.captures.captures(of: node).map(\.value) == ["batch-1"])
    try run.respond(to: .token, body: #"{"t":"tok-123"}"#)
    let put = try run.request(.transfer)
    #expect(put.url == "http://h/batch-1/a")
    #expect(put.headers.first { $0.name == "Authorization" }?.value == "Bearer tok-123")
    // From then on the token is masked.
    #expect(run.captures.masked("it was tok-123") == "it was ***")
    #expect(run.captures.masked("batch-1") == "batch-1")
  }

  @Test func whatAnItemGaveIsForgottenWithItsSecrets() throws {
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
    #expect(run.captures.masked("of id-secret") == "of id-secret")
  }

  @Test func anUploadIDThatIsGivenOutAgainIsRegained() throws {
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
    run.captures.orphan(ref, as: orphan, run.scheduler)
    #expect(run.captures[orphan].allocate.map(\.value) == ["i1"])
    let again = [CapturedValue(name: "id", value: "i1", isSecret: false)]
    #expect(run.captures.regained(by: again, path: Array("a".utf8), of: ref.node) == [0])
    run.captures.forget(orphan: orphan)
    #expect(run.captures.regained(by: again, path: Array("a".utf8), of: ref.node).isEmpty)
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct ResponseInterpreterTests {
  private static let upload = """
    uploads:
      u:
        session: s
        files: { root: files }
        allocate:
          request: { url: "http://h/ids" }
          expect: { json: { /ok: "yes" } }
          capture: { url: { header: Location }, id: { json: /id, expires: { json: /ends } } }
        transfer: { request: { method: PUT, url: "${allocate.url}" } }
    """

  private func run(_ nodes: String = upload) throws -> TestRun { try TestRun(nodes, files: ["a"]) }

  @Test func capturesAndExpiryAreRead() throws {
    let nodes = Self.upload.replacing(", expires: { json: /ends }", with: "")
    let run = try run(nodes)
    let ref = try run.attempt(.allocate).ref
    let result = try run.respond(
      to: .allocate, 201, headers: [("Location", "../up/7"), ("Retry-After", "5")],
      body: #"{"ok":"yes","id":"i7"}"#)
    #expect(result.response?.status == 201 && result.response?.mismatch == nil)
    #expect(result.response?.retryAfter == .seconds(5))
    // The location is resolved relative to the request's URL, without the URL's user name.
    #expect(run.captures[ref].allocate.map(\.value) == ["http://h/up/7", "i7"])
    // With the captures, the host of the later step is known.
    #expect(result.response?.origins[.transfer]?.description == "http://h")
  }

  @Test func aMismatchIsReportedAndCapturesNothing() throws {
    let run = try run(Self.upload.replacing(", expires: { json: /ends }", with: ""))
    let ref = try run.attempt(.allocate).ref
    let result = try run.respond(
      to: .allocate, headers: [("Location", "/x")], body: #"{"ok":"no","id":"i7"}"#)
    #expect(result.response?.mismatch != nil)
    #expect(run.captures[ref].allocate.isEmpty)
  }

  @Test func aMissingCaptureIsReported() throws {
    let run = try run(Self.upload.replacing(", expires: { json: /ends }", with: ""))
    let result = try run.respond(to: .allocate, headers: [("Location", "/x")], body: #"{"ok":"yes"}"#)
    #expect(result.response?.missing?.code == .capture)
  }

  @Test func secretsAreMaskedInFailures() throws {
    let nodes = """
      requests:
        r: { session: s, request: { url: "http://h/r", headers: { X-Key: "${secrets.key}" } } }
      """
    let run = try TestRun(nodes, secret: "swordfish")
    let failure = TransportFailure(.connect, "connect to swordfish.example: no", mayHaveReachedServer: false)
    let result = try run.finish(.request, .failure(failure))
    #expect(result.failure?.message == "connect to ***.example: no")
    #expect(result.failure?.code == .connect && result.failure?.mayHaveReachedServer == false)
  }

  @Test func aCaptureThatHoldsASecretIsASecret() throws {
    let nodes = """
      requests:
        r:
          session: s
          request: { url: "http://h/r", headers: { X-Key: "${secrets.key}" } }
          capture: { echo: { json: /echo }, url: { json: /url } }
      """
    let run = try TestRun(nodes, secret: "swordfish")
    let node = try run.attempt(.request).ref.node
    try run.respond(
      to: .request, body: #"{"echo":"key=swordfish","url":"http://bob:hunter2@h/x"}"#)
    let captures = run.captures.captures(of: node)
    #expect(captures.map(\.isSecret) == [true, false])
    #expect(captures.map(\.value) == ["key=swordfish", "http://h/x"])
  }

  private static let request = """
    requests:
      r:
        session: s
        request: { method: PUT, url: "http://h/r?q=1", headers: { X-Key: "${secrets.key}" } }

    """

  @Test func aFailureHasTheURLAndTheBeginningOfTheBody() throws {
    let run = try TestRun(Self.request, secret: "swordfish")
    let result = try run.respond(to: .request, 400, body: "field \"title\" missing, key swordfish\n")
    #expect(result.detail?.url == "http://h/r?q=***")
    #expect(result.detail?.body == "field \"title\" missing, key ***")
    let record = try #require(run.scheduler.nodeRecords.first)
    #expect(record.reason?.detail == result.detail && record.attempts.first?.body == result.detail?.body)
  }

  @Test func aSuccessHasNoDetail() throws {
    let run = try TestRun(Self.request, secret: "swordfish")
    #expect(try run.respond(to: .request, 200, body: "fine").detail == nil)
  }

  @Test func aReasonPhraseIsMaskedAndBounded() throws {
    let run = try TestRun(Self.request, secret: "swordfish")
    let reason = Array(("swordfish \u{1B}[31m" + String(repeating: "x", count: 900)).utf8)
    let response = TransferResponse(
      status: 400, headers: [], reason: reason, body: [], url: try run.request(.request).url)
    let phrase = try #require(try run.finish(.request, .success(response)).detail?.reasonPhrase)
    #expect(
      phrase.hasPrefix(#"*** \033[31mxxx"#) && phrase.hasSuffix("x…") && phrase.utf8.count <= 103, "\(phrase)"
    )
  }

  @Test func aResponseThatMayContainAnUnknownSecretIsNotShown() throws {
    let nodes = Self.request + "    capture: { key: { json: /key, secret: true } }\n"
    let run = try TestRun(nodes, secret: "swordfish")
    let result = try run.respond(to: .request, 200, body: #"{"kex":"a new secret"}"#)
    #expect(result.response?.missing != nil)
    #expect(result.detail?.url != nil && result.detail?.body == nil)
    let other = try TestRun(nodes, secret: "swordfish")
    #expect(try other.respond(to: .request, 403, body: "no").detail?.body == "no")
  }

  @Test func aURLThatIsASecretIsNotShown() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate:
            request: { method: POST, url: "http://h/ids" }
            capture: { url: { json: /url, secret: true } }
          transfer: { request: { url: "${allocate.url}" } }
          commit: { request: { method: POST, url: "http://h/commit" } }

      """
    let run = try TestRun(nodes, files: ["a"])
    try run.respond(to: .allocate, body: #"{"url":"http://h/put/private?sig=xyz"}"#)
    let result = try run.respond(to: .transfer, 403, body: "not http://h/put/private?sig=xyz")
    #expect(result.detail == FailureDetail(url: "***", body: "not ***"))
  }

  @Test func aServerThatRepeatsAPasswordOfTheURLIsNotQuoted() throws {
    let run = try TestRun(
      Self.request.replacing("http://h/", with: "http://bob:hunter2@h/"), secret: "swordfish")
    let result = try run.respond(to: .request, 400, body: "bob:hunter2")
    #expect(result.detail == FailureDetail(url: "http://h/r?q=***"))
  }

  @Test func aLargeBodyIsReadOnAnotherThread() throws {
    let run = try run(Self.upload.replacing(", expires: { json: /ends }", with: ""))
    let attempt = try run.attempt(.allocate)
    func search(_ count: Int) -> (@Sendable () -> ResponseReading)? {
      let body = Array(#"{"ok":"yes","id":"\#(String(repeating: "x", count: count))"}"#.utf8)
      let response = TransferResponse(
        status: 200, headers: [(name: "Location", value: "/x")], body: body, url: "http://h/ids")
      let outcome = TransferOutcome(
        id: attempt.id, result: .success(response), traffic: Traffic(), duration: .zero)
      return run.responses.search(of: outcome, attempt)
    }
    #expect(search(100) == nil)
    let reading = try #require(search(20_000))
    #expect(try reading().captures.get().last?.value.utf8.count == 20_000)
  }
}

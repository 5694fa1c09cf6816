import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine

@Suite struct `A token that a server issues` {
  private func run(_ apply: String = "") throws -> TestRun {
    try TestRun(
      """
      tokens:
        login:
          session: s
          request: { method: POST, url: "http://h/token" }
          capture: { access_token: { json: /token, secret: true } }
          apply: \(apply.isEmpty ? "{ header: Authorization, value: \"Bearer ${token.access_token}\" }" : apply)
      uploads:
        u:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { method: PUT, url: "http://h/${file.name}" } }
      """, files: ["a"])
  }

  private func failure(_ token: String, _ apply: String = "") throws -> String? {
    let run = try run(apply)
    return try run.respond(to: .token, body: "{\"token\":\"\(token)\"}").response?.missing?.message
  }

  @Test(arguments: ["a\\r\\nX-Evil: 1", "a\\u0000b", "\\u001b[31m", "a\\u007f"])
  func `is rejected if a header field cannot contain it`(_ token: String) throws {
    #expect(
      try failure(token)
        == "the value of 'access_token' in the response contains a character that the header 'Authorization' cannot contain"
    )
  }

  @Test(arguments: ["", " ", "\\t "]) func `is rejected if it is empty`(_ token: String) throws {
    for apply in ["", "{ query: t, value: \"${token.access_token}\" }"] {
      #expect(
        try failure(token, apply) == "the value of 'access_token' in the response is empty")
    }
  }

  @Test func `is accepted if its place in the request can contain it`() throws {
    #expect(try failure("abc.def") == nil)
    #expect(try failure("a;b", "{ cookie: c, value: \"${token.access_token}\" }") != nil)
    #expect(try failure("a;b") == nil)
    #expect(try failure("a\\nb", "{ query: t, value: \"${token.access_token}\" }") == nil)
    #expect(
      try failure("a\\nb", "{ header: X-T, value: \"${token.access_token | base64}\" }") == nil)
  }

  @Test func `does not fail the files that wait for it`() throws {
    let run = try run()
    try run.respond(to: .token, body: #"{"token":"a\nb"}"#)
    #expect(run.started.allSatisfy { $0.step != .transfer })
    #expect(
      !run.entries.contains { entry in
        if case .itemClosed(_, .failed, _, _) = entry { true } else { false }
      })
  }
}

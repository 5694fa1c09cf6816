import Foundation
import Testing

@testable import Receiver

@Suite struct TokenTests {
  @Test func `a token is issued with its type and its lifetime`() async throws {
    try await TestServer.run({ $0.tokenLife = .milliseconds(1500) }) { server in
      let answer = try await server.request(
        "POST", "/oauth/token", text: "grant_type=client_credentials&client_id=a&client_secret=b")
      let token = try answer.json(TestToken.self)
      #expect(answer.status == 200)
      #expect(answer["cache-control"] == "no-store")
      #expect(token.kind == "Bearer")
      #expect(token.life == 1.5)
      #expect(!token.token.isEmpty)
      #expect(try await server.server.received().tokens == 1)
    }
  }

  @Test func `a guarded route accepts a token until it expires`() async throws {
    let clock = TestClock()
    try await TestServer.run({
      $0.requiresToken = true
      $0.tokenLife = .seconds(60)
      $0.now = clock.now
    }) { server in
      let bearer = try await server.bearer()
      clock.advance(by: 59.9)
      #expect(try await server.request("GET", "/catalog.json", headers: bearer).status == 200)
      clock.advance(by: 0.1)
      let late = try await server.request("GET", "/catalog.json", headers: bearer)
      #expect(late.status == 401)
      #expect(late["www-authenticate"] == "Bearer error=\"invalid_token\"")
    }
  }

  @Test func `without a token every route except token, listing and faults returns 401`() async throws {
    try await TestServer.run({ $0.requiresToken = true }) { server in
      let guarded = [
        ("POST", "/uploads"), ("PUT", "/uploads/x/content"), ("POST", "/uploads/x/commit"),
        ("DELETE", "/uploads/x"), ("PUT", "/files/x"), ("GET", "/files/x"), ("POST", "/inbox?name=x"),
        ("GET", "/catalog.json"), ("GET", "/blobs/x"), ("POST", "/done"), ("GET", "/redirect?to=/x"),
      ]
      for (method, path) in guarded {
        let answer = try await server.request(method, path)
        #expect(answer.status == 401, "\(method) \(path)")
        #expect(answer["www-authenticate"] == "Bearer", "\(method) \(path)")
      }
      #expect(try await server.request("GET", "/received").status == 200)
      #expect(try await server.request("GET", "/faults").status == 200)
      #expect(try await server.server.received().files.isEmpty)
    }
  }

  @Test func `a rejected body is read, so that the connection stays usable`() async throws {
    try await TestServer.run({ $0.requiresToken = true }) { server in
      let connection = try server.connect()
      let body = Data(repeating: 7, count: 300_000)
      try await connection.send(TestServer.message("PUT", "/files/x", body: body))
      #expect(try await connection.answer().status == 401)
      try await connection.send(TestServer.message("GET", "/received"))
      #expect(try await connection.answer().status == 200)
    }
  }

  @Test(arguments: [
    ("client_id=ferry&client_secret=wrong", [:], 401),
    ("client_id=other&client_secret=s%26t", [:], 401),
    ("", [:], 401),
    ("client_id=ferry&client_secret=s%26t", [:], 200),
    // The credentials `ferry:s&t`.
    ("", ["Authorization": "Basic ZmVycnk6cyZ0"], 200),
  ])
  func `only the configured client gets a token`(
    form: String, headers: [String: String], status: Int
  ) async throws {
    try await TestServer.run({
      $0.clientID = "ferry"
      $0.clientSecret = "s&t"
    }) { server in
      let answer = try await server.request(
        "POST", "/oauth/token", headers: headers, text: "grant_type=client_credentials&\(form)")
      #expect(answer.status == status)
      if status == 401 { #expect(answer.problem == "invalid_client") }
    }
  }

  @Test func `another grant type is rejected with its RFC 6749 error code`() async throws {
    try await TestServer.run { server in
      let other = try await server.request("POST", "/oauth/token", text: "grant_type=password")
      #expect(other.status == 400)
      #expect(other.problem == "unsupported_grant_type")
      #expect(try await server.request("POST", "/oauth/token", text: "").problem == "invalid_request")
    }
  }
}

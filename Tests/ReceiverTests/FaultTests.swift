import Foundation
import Testing

@testable import Receiver

@Suite struct FaultTests {
  @Test func `every nth response has the status, and nothing is executed`() async throws {
    try await TestServer.run({ $0.faults = [.status(500, on: .file, every: 3)] }) { server in
      var statuses: [Int] = []
      for number in 1...7 {
        statuses.append(try await server.request("PUT", "/files/\(number)", text: "abc").status)
      }
      #expect(statuses == [201, 201, 500, 201, 201, 500, 201])
      let listing = try await server.server.received()
      #expect(listing.files.map(\.name) == ["1", "2", "4", "5", "7"])
      #expect(listing.requests == 7)
    }
  }

  @Test func `a fault of any route counts all requests, and can send Retry-After`() async throws {
    let fault = Fault.status(429, on: .any, every: 2, retryAfter: 1)
    try await TestServer.run({ $0.faults = [fault] }) { server in
      #expect(try await server.request("GET", "/catalog.json").status == 200)
      let slowDown = try await server.request("POST", "/inbox?name=a", text: "abc")
      #expect(slowDown.status == 429)
      #expect(slowDown["retry-after"] == "1")
      #expect(try await server.server.received().inbox.isEmpty)
      // Faults neither apply to the listing nor count requests for it.
      #expect(try await server.request("GET", "/received").status == 200)
      #expect(try await server.request("GET", "/received").status == 200)
    }
  }

  @Test func `a requested 401 looks like an expired token`() async throws {
    try await TestServer.run({ $0.faults = [.status(401, on: .content, times: 1)] }) { server in
      let path = try await server.allocate("a")
      let refused = try await server.request("PUT", "\(path)/content", text: "abc")
      #expect(refused.status == 401)
      #expect(refused["www-authenticate"] == "Bearer error=\"invalid_token\"")
      #expect(try await server.request("PUT", "\(path)/content", text: "abc").status == 204)
      #expect(try await server.received("a")?.contents == 1)
    }
  }

  @Test func `a connection dropped before the work executes nothing`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.before, on: .commit, times: 1)] }) { server in
      let path = try await server.allocate("a")
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      await #expect(throws: TestConnection.Broken.reset) {
        try await server.request("POST", "\(path)/commit")
      }
      #expect(try await server.received("a")?.commits == 0)
      #expect(try await server.request("POST", "\(path)/commit").status == 200)
      #expect(try await server.received("a")?.commits == 1)
    }
  }

  @Test func `a connection dropped after the work executes everything`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.after, on: .commit, times: 1)] }) { server in
      let path = try await server.allocate("a")
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      await #expect(throws: TestConnection.Broken.reset) {
        try await server.request("POST", "\(path)/commit")
      }
      #expect(try await server.received("a")?.commits == 1)
      #expect(try await server.request("POST", "\(path)/commit").status == 409)
      #expect(try await server.received("a")?.commits == 1)
    }
  }

  @Test func `a dropped connection can be closed instead of being reset`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.after, on: .inbox, cut: .close)] }) { server in
      await #expect(throws: TestConnection.Broken.ended) {
        try await server.request("POST", "/inbox?name=a", text: "abc")
      }
      let listing = try await server.server.received()
      #expect(listing.inbox.map(\.name) == ["a"])
    }
  }

  @Test func `a long body on a dropped connection is not stored`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.before, on: .content, times: 1)] }) { server in
      let path = try await server.allocate("a")
      let body = Data(repeating: 1, count: 4 * 1024 * 1024)
      await #expect(throws: TestConnection.Broken.reset) {
        try await server.request("PUT", "\(path)/content", body: body)
      }
      #expect(try await server.received("a")?.contents == 0)
      #expect(try await server.request("PUT", "\(path)/content", body: body).status == 204)
      #expect(try await server.received("a")?.contents == 1)
    }
  }

  @Test func `a drop affects a connection that carried good responses before`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.after, on: .file, every: 3)] }) { server in
      let bystander = try server.connect()
      let connection = try server.connect()
      for number in 1...2 {
        try await connection.send(TestServer.message("PUT", "/files/\(number)", body: Data([1])))
        #expect(try await connection.answer().status == 201)
      }
      try await connection.send(TestServer.message("PUT", "/files/3", body: Data([1])))
      await #expect(throws: TestConnection.Broken.reset) { try await connection.answer() }
      #expect(try await server.server.received().files.map(\.name) == ["1", "2", "3"])
      try await bystander.send(TestServer.message("GET", "/files/3"))
      #expect(try await bystander.answer().body == Data([1]))
    }
  }

  @Test func `a client cannot have another's connection dropped`() async throws {
    try await TestServer.run({ $0.faults = [.drop(.before, on: .inbox)] }) { server in
      let bystander = try server.connect()
      try await bystander.send(TestServer.message("GET", "/catalog.json"))
      #expect(try await bystander.answer().status == 200)
      for number in 1...2 {
        await #expect(throws: TestConnection.Broken.reset) {
          try await server.request(
            "POST", "/inbox?name=a", headers: ["Receiver-Connection": "\(number)"], text: "abc")
        }
      }
      try await bystander.send(TestServer.message("GET", "/catalog.json"))
      #expect(try await bystander.answer().status == 200)
    }
  }

  @Test func `a delayed response is late, and the work is done on time`() async throws {
    let gate = TestGate()
    try await TestServer.run({
      $0.faults = [.delay(0.2, on: .inbox)]
      $0.wait = gate.wait
    }) { server in
      async let answer = server.request("POST", "/inbox?name=a", text: "abc")
      #expect(await gate.arrival() == .seconds(0.2))
      let listing = try await server.server.received()
      #expect(listing.inbox.map(\.name) == ["a"])
      gate.open()
      #expect(try await answer.status == 201)
    }
  }

  @Test func `faults are added and removed while the server runs`() async throws {
    try await TestServer.run { server in
      let one = "{\"route\":\"catalog\",\"status\":503,\"retry_after\":2}"
      let added = try await server.request("POST", "/faults", text: one)
      let expected = Fault.status(503, on: .catalog, retryAfter: 2)
      #expect(added.status == 200)
      #expect(try added.json([Fault].self) == [expected])
      #expect(try await server.request("GET", "/catalog.json")["retry-after"] == "2")
      let list = try await server.request(
        "POST", "/faults", text: " [{\"route\":\"any\",\"every\":2,\"drop\":\"before\",\"cut\":\"close\"}]")
      #expect(
        try list.json([Fault].self) == [expected, .drop(.before, on: .any, every: 2, cut: .close)])
      #expect(try await server.request("DELETE", "/faults").status == 204)
      #expect(try await server.request("GET", "/faults").text == "[]")
      #expect(try await server.request("GET", "/catalog.json").status == 200)
    }
  }

  @Test(arguments: [
    "{}", "{\"route\":\"commit\"}", "{\"route\":\"nowhere\",\"status\":500}",
    "{\"route\":\"commit\",\"status\":500,\"drp\":\"after\"}",
    "{\"route\":\"commit\",\"status\":500,\"drop\":\"after\"}",
    "[{\"route\":\"commit\",\"status\":500},{\"route\":\"commit\"}]",
    "{\"route\":\"commit\",\"response\":\"nothing\"}",
    "{\"route\":\"commit\",\"response\":\"redirect\",\"location\":\"/a\\r\\nX: y\"}",
  ])
  func `an invalid fault returns 400, and none is added`(body: String) async throws {
    try await TestServer.run { server in
      let answer = try await server.request("POST", "/faults", text: body)
      #expect(answer.status == 400)
      #expect(try await server.request("GET", "/faults").text == "[]")
    }
  }
}

import Foundation
import Testing

@testable import Receiver

@Suite struct FileTests {
  @Test(arguments: [
    ("/files/a%20b%25.txt", "a b%.txt"),
    ("/files/%C3%BCber/%E6%97%A5.jpg", "über/日.jpg"),
    ("/files/a+b", "a+b"),
    ("/files/a%2Fb%3Fc%23d", "a/b?c#d"),
    ("/files/../../etc/passwd", "../../etc/passwd"),
  ])
  func `a file's name is its path, percent-decoded`(path: String, name: String) async throws {
    try await TestServer.run { server in
      let answer = try await server.request("PUT", path, text: "abc")
      #expect(answer.status == 201)
      #expect(try await server.server.received().files.map(\.name) == [name])
      #expect(try await server.request("GET", path).text == "abc")
    }
  }

  @Test func `a path that is not UTF-8 returns 400`() async throws {
    try await TestServer.run { server in
      #expect(try await server.request("PUT", "/files/%FF", text: "abc").status == 400)
      #expect(try await server.request("PUT", "/files/%zz", text: "abc").status == 400)
      let listing = try await server.server.received()
      #expect(listing.files.isEmpty)
    }
  }

  @Test func `a file is new once and then replaced`() async throws {
    try await TestServer.run { server in
      let first = try await server.request("PUT", "/files/x", text: "one")
      let second = try await server.request("PUT", "/files/x", text: "three")
      #expect(first.status == 201)
      #expect(second.status == 204)
      #expect(first["etag"] != second["etag"])
      #expect(try await server.request("GET", "/files/x").text == "three")
      #expect(try await server.server.received().files.map(\.puts) == [2])
      #expect(try server.contentFiles().count == 1)
    }
  }

  @Test func `a file that is known is not sent again`() async throws {
    try await TestServer.run { server in
      let put = try await server.request("PUT", "/files/x", text: "abc")
      let tag = try #require(put["etag"])
      let known = try await server.request("GET", "/files/x", headers: ["If-None-Match": tag])
      #expect(known.status == 304)
      #expect(known["etag"] == tag)
      #expect(try await server.request("GET", "/files/x", headers: ["If-None-Match": "\"x\""]).status == 200)
    }
  }

  @Test func `a range of a file is returned on request`() async throws {
    try await TestServer.run { server in
      let put = try await server.request("PUT", "/files/x", text: "0123456789")
      let part = try await server.request("GET", "/files/x", headers: ["Range": "bytes=4-6"])
      #expect(part.status == 206)
      #expect(part.text == "456")
      #expect(part["content-range"] == "bytes 4-6/10")
      let beyond = try await server.request("GET", "/files/x", headers: ["Range": "bytes=10-"])
      #expect(beyond.status == 416)
      #expect(beyond["content-range"] == "bytes */10")
      let same = ["Range": "bytes=4-", "If-Range": try #require(put["etag"])]
      #expect(try await server.request("GET", "/files/x", headers: same).text == "456789")
      let changed = ["Range": "bytes=4-", "If-Range": "\"other\""]
      #expect(try await server.request("GET", "/files/x", headers: changed).text == "0123456789")
    }
  }

  @Test func `HEAD returns the size and no body`() async throws {
    try await TestServer.run { server in
      _ = try await server.request("PUT", "/files/x", text: "abc")
      let connection = try server.connect()
      try await connection.send(TestServer.message("HEAD", "/files/x"))
      #expect(try await connection.answer(to: "HEAD")["content-length"] == "3")
      try await connection.send(TestServer.message("GET", "/files/x"))
      #expect(try await connection.answer().text == "abc")
    }
  }

  @Test func `an empty file is a file`() async throws {
    try await TestServer.run { server in
      #expect(try await server.request("PUT", "/files/x").status == 201)
      let answer = try await server.request("GET", "/files/x")
      #expect(answer.status == 200)
      #expect(answer["content-length"] == "0")
      #expect(try await server.server.received().files.map(\.size) == [0])
    }
  }

  @Test func `every post to the inbox stores another item`() async throws {
    try await TestServer.run { server in
      for _ in 0..<2 {
        #expect(try await server.request("POST", "/inbox?name=a%20b", text: "abc").status == 201)
      }
      #expect(try await server.request("POST", "/inbox", text: "abc").status == 400)
      let inbox = try await server.server.received().inbox
      #expect(inbox.map(\.name) == ["a b", "a b"])
      #expect(inbox.map(\.size) == [3, 3])
    }
  }

  @Test func `a file that is reported as done is listed`() async throws {
    try await TestServer.run { server in
      let said = "{\"failed\":0,\"list\":[1.5,true,null],\"run\":\"r1\"}"
      #expect(try await server.request("POST", "/done", text: said).status == 204)
      #expect(try await server.request("POST", "/done", text: "{").status == 400)
      let listing = try await server.request("GET", "/received").text
      #expect(listing.contains("\"done\":[\(said)]"))
    }
  }

  @Test func `a redirect keeps its status and reads the body`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      let body = Data(repeating: 1, count: 200_000)
      try await connection.send(
        TestServer.message("PUT", "/redirect?to=http%3A%2F%2F127.0.0.1%3A9%2Fx%3Fa&status=308", body: body))
      let answer = try await connection.answer()
      #expect(answer.status == 308)
      #expect(answer["location"] == "http://127.0.0.1:9/x?a")
      try await connection.send(TestServer.message("GET", "/redirect?to=/y"))
      #expect(try await connection.answer().status == 307)
    }
  }

  @Test(arguments: ["to=/x&status=200", "to=/x&status=", "status=307", "to=/x%0D%0AX-Evil:%201"])
  func `an invalid redirect returns 400`(query: String) async throws {
    try await TestServer.run { server in
      let answer = try await server.request("GET", "/redirect?\(query)")
      #expect(answer.status == 400)
      #expect(answer["x-evil"] == nil)
    }
  }

  @Test func `a known path with another method returns 405 with the allowed methods`() async throws {
    try await TestServer.run { server in
      let answer = try await server.request("DELETE", "/files/x")
      #expect(answer.status == 405)
      #expect(answer["allow"] == "GET, HEAD, PUT")
      #expect(try await server.request("GET", "/nowhere").status == 404)
    }
  }
}

import Foundation
import Testing

@testable import Receiver

@Suite struct UploadTests {
  /// The digest of `abc`, from FIPS 180-2.
  private let abcDigest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

  private struct Allocation: Decodable {
    let id: String
    /// The lifetime in seconds.
    let life: Double

    enum CodingKeys: String, CodingKey {
      case id
      case life = "expires_in"
    }
  }

  @Test func `an upload is allocated, sent, committed, listed and returned`() async throws {
    try await TestServer.run({ $0.uploadLife = .seconds(90) }) { server in
      let allocated = try await server.request("POST", "/uploads", text: "{\"name\":\"a.txt\",\"size\":3}")
      let allocation = try allocated.json(Allocation.self)
      #expect(allocated.status == 201)
      #expect(allocated["location"] == "/uploads/\(allocation.id)")
      #expect(allocation.life == 90)

      let path = "/uploads/\(allocation.id)"
      #expect(try await server.request("PUT", "\(path)/content", text: "abc").status == 204)
      #expect(try await server.request("GET", "/blobs/a.txt").status == 404)
      let claim = "{\"sha256\":\"\(abcDigest)\",\"size\":3,\"name\":\"a.txt\"}"
      let committed = try await server.request("POST", "\(path)/commit", text: claim)
      #expect(committed.status == 200)
      #expect(
        try committed.json(Listing.Post.self) == Listing.Post(name: "a.txt", size: 3, sha256: abcDigest))

      #expect(try await server.request("GET", "/blobs/a.txt").text == "abc")
      let listing = try await server.request("GET", "/received").json(Listing.self)
      #expect(
        listing.uploads == [
          Listing.Upload(
            name: "a.txt", size: 3, sha256: abcDigest, commits: 1, contents: 1, allocations: 1)
        ])
      #expect(listing.requests == 5)
    }
  }

  @Test func `a second commit returns 409 and is not executed`() async throws {
    let clock = TestClock()
    try await TestServer.run({ $0.now = clock.now }) { server in
      let path = try await server.allocate("a")
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      #expect(try await server.request("POST", "\(path)/commit").status == 200)
      #expect(try await server.request("POST", "\(path)/commit").status == 409)
      // A completed upload remains completed, even after its ID has expired.
      clock.advance(by: 1_000_000)
      #expect(try await server.request("POST", "\(path)/commit").status == 409)
      #expect(try await server.request("PUT", "\(path)/content", text: "xyz").status == 409)
      #expect(try await server.received("a")?.commits == 1)
      #expect(try await server.request("GET", "/blobs/a").text == "abc")
    }
  }

  @Test(arguments: [
    "{\"sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\"}",
    "{\"size\":4}", "{\"name\":\"b\"}",
  ])
  func `a commit with other values than the upload returns 422 and leaves the upload open`(
    claim: String
  ) async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      #expect(try await server.request("POST", "\(path)/commit", text: claim).status == 422)
      #expect(try await server.received("a")?.commits == 0)
      #expect(try await server.request("POST", "\(path)/commit").status == 200)
    }
  }

  @Test func `a body whose size differs from the announced one cannot be committed`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a", size: 3)
      _ = try await server.request("PUT", "\(path)/content", text: "abcd")
      #expect(try await server.request("POST", "\(path)/commit").status == 422)
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      #expect(try await server.request("POST", "\(path)/commit").status == 200)
      #expect(try await server.received("a")?.contents == 2)
      #expect(try server.contentFiles().count == 1)
    }
  }

  @Test func `a commit without content returns 422`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      #expect(try await server.request("POST", "\(path)/commit").status == 422)
      #expect(try await server.received("a")?.commits == 0)
    }
  }

  @Test func `an expired upload ID returns 410, an unknown one 404`() async throws {
    let clock = TestClock()
    try await TestServer.run({
      $0.uploadLife = .seconds(10)
      $0.now = clock.now
    }) { server in
      let path = try await server.allocate("a")
      clock.advance(by: 9.9)
      #expect(try await server.request("PUT", "\(path)/content", text: "abc").status == 204)
      clock.advance(by: 0.1)
      #expect(try await server.request("PUT", "\(path)/content", text: "abc").status == 410)
      #expect(try await server.request("POST", "\(path)/commit").status == 410)
      #expect(try await server.request("PUT", "/uploads/x/content", text: "abc").status == 404)
      #expect(try await server.request("POST", "/uploads/x/commit").status == 404)
      #expect(try await server.received("a")?.contents == 1)
      #expect(try await server.received("a")?.commits == 0)
    }
  }

  @Test func `an abandoned upload is unknown and its bytes are gone`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      _ = try await server.request("POST", "\(path)/content", text: "abc")
      #expect(try server.contentFiles().count == 1)
      #expect(try await server.request("DELETE", path).status == 204)
      #expect(try server.contentFiles().isEmpty)
      #expect(try await server.request("POST", "\(path)/commit").status == 404)
    }
  }

  @Test func `a body that is cut short leaves nothing to commit`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      let connection = try server.connect()
      let whole = TestServer.message("PUT", "\(path)/content", body: Data(repeating: 1, count: 500_000))
      try await connection.send(whole.prefix(300_000))
      connection.endSending()
      #expect(await connection.end() != .other(0))
      #expect(try await server.request("POST", "\(path)/commit").status == 422)
      #expect(try await server.received("a")?.contents == 0)
      await server.server.stop()
      #expect(try server.contentFiles().isEmpty)
    }
  }

  @Test func `a chunked body that is cut short leaves nothing to commit`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      let connection = try server.connect()
      try await connection.send(
        "PUT \(path)/content HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
      connection.endSending()
      #expect(await connection.end() != .other(0))
      #expect(try await server.request("POST", "\(path)/commit").status == 422)
    }
  }

  @Test func `a body with Content-Range is refused, because a part is not the whole`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      let part = ["Content-Range": "bytes 0-2/6"]
      #expect(
        try await server.request("PUT", "\(path)/content", headers: part, text: "abc").status == 400)
      #expect(try await server.request("POST", "\(path)/commit").status == 422)
    }
  }

  @Test(arguments: ["", "{", "[]", "{\"size\":3}", "{\"name\":\"\"}", "{\"name\":\"a\",\"size\":-1}"])
  func `an allocation that is no upload returns 400`(body: String) async throws {
    try await TestServer.run { server in
      let answer = try await server.request("POST", "/uploads", text: body)
      #expect(answer.status == 400)
      #expect(try await server.server.received().uploads.isEmpty)
    }
  }

  @Test func `JSON beyond a mebibyte returns 413, and the connection stays open`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      let body = Data("{\"name\":\"\(String(repeating: "a", count: 1024 * 1024))\"}".utf8)
      try await connection.send(TestServer.message("POST", "/uploads", body: body))
      #expect(try await connection.answer().status == 413)
      try await connection.send(TestServer.message("GET", "/catalog.json"))
      #expect(try await connection.answer().status == 200)
    }
  }
}

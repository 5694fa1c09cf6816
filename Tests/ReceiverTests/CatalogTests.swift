import Foundation
import Testing

@testable import Receiver

@Suite struct CatalogTests {
  private func commit(_ name: String, _ text: String, to server: TestServer) async throws {
    let path = try await server.allocate(name)
    _ = try await server.request("PUT", "\(path)/content", text: text)
    #expect(try await server.request("POST", "\(path)/commit").status == 200)
  }

  @Test func `the catalog has what was committed, in the order of the names`() async throws {
    struct Page: Decodable {
      struct Item: Decodable { let name: String, size: Int, sha256: String }
      let items: [Item]
    }
    try await TestServer.run { server in
      try await commit("b", "abc", to: server)
      try await commit("a", "", to: server)
      _ = try await server.allocate("c")
      let page = try await server.request("GET", "/catalog.json").json(Page.self)
      #expect(page.items.map(\.name) == ["a", "b"])
      #expect(page.items.map(\.size) == [0, 3])
    }
  }

  @Test func `a known catalog returns 304 until a commit changes it`() async throws {
    let clock = TestClock()
    try await TestServer.run({ $0.now = clock.now }) { server in
      let first = try await server.request("GET", "/catalog.json")
      let known = ["If-None-Match": "\"x\", \(try #require(first["etag"]))"]
      #expect(first["last-modified"] == "Sun, 09 Sep 2001 01:46:40 GMT")
      let again = try await server.request("GET", "/catalog.json", headers: known)
      #expect(again.status == 304)
      #expect(again["etag"] == first["etag"])

      clock.advance(by: 60)
      try await commit("a", "abc", to: server)
      let changed = try await server.request("GET", "/catalog.json", headers: known)
      #expect(changed.status == 200)
      #expect(changed["etag"] != first["etag"])
      #expect(changed["last-modified"] == "Sun, 09 Sep 2001 01:47:40 GMT")
    }
  }
}

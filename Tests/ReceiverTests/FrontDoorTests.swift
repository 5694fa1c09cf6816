import Foundation
import Testing

@testable import Receiver

@Suite struct FrontDoorTests {
  /// Bytes without a repeating sequence, so that missing, duplicated or reordered pieces are detected.
  private func pattern(_ count: Int, seed: UInt64) -> Data {
    var state = seed
    var data = Data(capacity: count)
    while data.count < count {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
    }
    return data
  }

  @Test func `two concurrent bodies of 8 MiB arrive complete, and are returned unchanged`() async throws {
    try await TestServer.run { server in
      let bodies = [pattern(8 << 20, seed: 1), pattern(8 << 20, seed: 2)]
      async let first = server.request("PUT", "/files/0", body: bodies[0])
      async let second = server.request("PUT", "/files/1", body: bodies[1])
      let statuses = try await [first.status, second.status]
      #expect(statuses == [201, 201])
      async let firstBack = server.request("GET", "/files/0")
      async let secondBack = server.request("GET", "/files/1")
      #expect(try await firstBack.body == bodies[0])
      #expect(try await secondBack.body == bodies[1])
    }
  }

  @Test func `a chunked body arrives whole`() async throws {
    try await TestServer.run { server in
      let body = pattern(200_000, seed: 3)
      let connection = try server.connect()
      try await connection.send("PUT /files/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      var rest = body[...]
      while !rest.isEmpty {
        let piece = rest.prefix(33_333)
        rest = rest.dropFirst(33_333)
        try await connection.send(
          Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8))
      }
      try await connection.send("0\r\n\r\n")
      #expect(try await connection.answer().status == 201)
      try await connection.send(TestServer.message("GET", "/files/x"))
      #expect(try await connection.answer().body == body)
    }
  }

  @Test func `a client that waits for 100 Continue gets it before it sends a byte`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      for name in ["x", "y"] {
        try await connection.send(
          "PUT /files/\(name) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(try await connection.answer().status == 100)
        try await connection.send("abc")
        #expect(try await connection.answer().status == 201)
      }
    }
  }

  @Test func `pipelined requests get their responses in order`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      var messages = Data()
      for number in 1...50 {
        messages += TestServer.message("PUT", "/files/\(number)", body: Data("\(number)".utf8))
        messages += TestServer.message("GET", "/files/\(number)")
      }
      try await connection.send(messages)
      for number in 1...50 {
        #expect(try await connection.answer().status == 201)
        #expect(try await connection.answer().text == "\(number)")
      }
    }
  }

  @Test func `a client that half-closes the connection still gets its response`() async throws {
    try await TestServer.run { server in
      let body = pattern(100_000, seed: 4)
      let connection = try server.connect()
      try await connection.send(TestServer.message("PUT", "/files/x", body: body))
      connection.endSending()
      #expect(try await connection.answer().status == 201)
      #expect(await connection.end() == .ended)
    }
  }

  @Test func `a connection with Connection: close closes after its response`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      let close = ["Connection": "close"]
      try await connection.send(TestServer.message("PUT", "/files/x", headers: close, body: Data([1])))
      #expect(try await connection.answer().status == 201)
      #expect(await connection.end() == .ended)
    }
  }

  @Test func `a head that is too large is rejected, and the connection closes`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      let long = String(repeating: "a", count: RequestFraming.headLimit)
      try await connection.send("GET /received HTTP/1.1\r\nA: \(long)\r\n\r\n")
      #expect(try await connection.answer().status == 431)
      #expect(await connection.end() == .ended)
      #expect(try await server.request("GET", "/received").status == 200)
    }
  }

  @Test func `many idle connections do not block other clients`() async throws {
    try await TestServer.run { server in
      let connections = try (0..<100).map { _ in try server.connect() }
      for round in 1...2 {
        for connection in connections {
          try await connection.send(TestServer.message("GET", "/catalog.json"))
        }
        for connection in connections {
          #expect(try await connection.answer().status == 200, "round \(round)")
        }
      }
      #expect(try await server.server.received().requests == 200)
    }
  }

  @Test func `a stopped server has closed its port, its connections and its socket`() async throws {
    try await TestServer.run { server in
      let connection = try server.connect()
      try await connection.send(TestServer.message("GET", "/catalog.json"))
      #expect(try await connection.answer().status == 200)
      await server.server.stop()
      #expect(await connection.end() != .other(0))
      #expect(throws: TestConnection.Broken.other(ECONNREFUSED)) { try server.connect() }
      await #expect(throws: ReceiverServer.Misuse.notRunning) { try await server.server.received() }
    }
  }

  @Test func `a port that is in use is reported as an error`() async throws {
    try await TestServer.run { server in
      var configuration = ReceiverConfiguration(directory: server.folder)
      configuration.port = server.port
      let error = await #expect(throws: SystemSocket.Failure.self) {
        try await ReceiverServer(configuration).start()
      }
      #expect(error?.code == EADDRINUSE)
    }
  }
}

import FerryPlan
import FerryProcess
import Foundation
import Testing

@testable import FerryTransfer

/// Downloads that are interrupted, and requests for their rest.
@Suite struct `A part of a download` {
  static let body = String((0..<30_000).map { "\($0 % 10)abcdefghi" }.joined())
  static let size = 300_000
  static let tag = "\"v1\""

  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func get(
    _ server: RawServer, _ path: String = "/catalog", owner: String? = "s/catalog", limit: Int64? = nil,
    headers: [TransferRequest.HeaderField] = [], check: TransferRequest.DownloadCheck? = nil,
    checksum: TransferRequest.Checksum? = nil
  ) throws -> TransferOutcome {
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url + path, headers: headers,
      destination: .file(path: folder.file("catalog")), idleTimeout: .seconds(5), sizeLimit: limit,
      check: check)
    request.partOwner = owner
    request.checksum = checksum
    return try loop.run(request)
  }

  /// The first connection ends after `count` bytes of the document. `rest` responds on the others.
  private static func server(
    cutAfter count: Int = 200_000, fields: [String] = ["ETag: \(tag)"],
    then rest: @escaping @Sendable (RawRequest) -> String = Self.rest
  ) throws -> RawServer {
    try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard number == 0 else {
          connection.send(rest(request))
          continue
        }
        let head = (["HTTP/1.1 200 OK", "Content-Length: \(size)"] + fields).joined(separator: "\r\n")
        return connection.send(head + "\r\n\r\n" + body.prefix(count))
      }
    }
  }

  /// The response of a server that still has the same version.
  @Sendable private static func rest(_ request: RawRequest) -> String {
    guard let first = request.range(of: size)?.lowerBound, request.header("if-range") != nil else {
      return answer(headers: ["ETag: \(tag)"], body: body)
    }
    return answer(
      "206 Partial Content", headers: ["Content-Range: bytes \(first)-\(size - 1)/\(size)", "ETag: \(tag)"],
      body: String(body.dropFirst(first)))
  }

  private var part: String? { folder.names.first { $0.hasPrefix(".catalog.ferry-kept-") } }

  /// Some servers send a range, but with the status 200.
  @Test(arguments: [
    ["Content-Range: bytes 200000-299999/300000"], ["Content-Range: bytes 200000-299999/*"],
    ["Content-Range: bytes 0-99999/300000"], ["Content-Range: x"],
    ["Content-Range: bytes 0-299999/300000", "Content-Range: bytes 200000-299999/300000"],
    ["Content-Range: bytes 0-299999/300000"], ["Content-Range: bytes 0-99999/100000"], [],
  ]) func `is not taken for the document if its status is 200`(_ fields: [String]) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try Self.server { request in
      request.header("range") == nil
        ? answer(headers: ["ETag: \(Self.tag)"], body: Self.body)
        : answer(headers: fields + ["ETag: \(Self.tag)"], body: String(Self.body.suffix(100_000)))
    }
    #expect(try get(server).failure?.code == .connectionLost)
    let second = try get(server)
    #expect(second.answer?.status == 200, "\(second)")
    #expect(folder.text("catalog") == Self.body)
    #expect(server.requests.map { $0.header("range") } == [nil, "bytes=200000-", nil])
    #expect(folder.names == ["catalog"])
  }

  /// Without a `Content-Length`, the `Content-Range` cannot be compared with the body before it is stored.
  @Test func `is not taken for the document if its status is 200 and its length is unknown`() throws {
    let server = try Self.server { request in
      guard request.header("range") != nil else {
        return answer(headers: ["ETag: \(Self.tag)"], body: Self.body)
      }
      let fields = "Transfer-Encoding: chunked\r\nContent-Range: bytes 0-299999/300000\r\nETag: \(Self.tag)"
      return "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n186a0\r\n\(Self.body.suffix(100_000))\r\n0\r\n\r\n"
    }
    #expect(try get(server).failure?.code == .connectionLost)
    #expect(try get(server).answer?.status == 200)
    #expect(folder.text("catalog") == Self.body)
  }

  /// The field states that the response has the whole document, or the document has changed.
  @Test(arguments: [["Content-Range: bytes 0-99999/100000"], []])
  func `is replaced by a document with the status 200`(_ fields: [String]) throws {
    let server = try Self.server { _ in
      answer(headers: fields + ["ETag: \"v2\""], body: String(Self.body.suffix(100_000)))
    }
    #expect(try get(server).failure?.code == .connectionLost)
    #expect(try get(server).answer?.status == 200)
    #expect(folder.text("catalog")?.count == 100_000)
    #expect(server.requests.count == 2)
  }

  @Test func `is continued with a request for the rest`() throws {
    folder.write("catalog", Array("old".utf8))
    let server = try Self.server()
    let first = try get(server)
    #expect(first.failure?.code == .connectionLost)
    #expect(first.part == PartProgress(kept: 200_000, through: 200_000))
    #expect(folder.text("catalog") == "old")

    let second = try get(server)
    #expect(second.answer?.status == 206 && second.answer?.isContinued == true)
    #expect(second.part == nil)
    #expect(second.traffic.bodyReceived == 100_000)
    #expect(server.requests[1].header("range") == "bytes=200000-")
    #expect(server.requests[1].header("if-range") == Self.tag)
    #expect(folder.text("catalog") == Self.body)
    #expect(folder.names == ["catalog"])
  }

  /// ferry was killed after the record had been removed from the complete part, before it was renamed.
  @Test func `is replaced if it has no record`() throws {
    let server = try Self.server()
    _ = try get(server)
    let part = try #require(part)
    folder.write(part, Array(Self.body.utf8))
    #expect(chmod(folder.file(part), 0o644) == 0)
    let other = try Self.server()
    let second = try get(other)
    #expect(second.failure?.code == .connectionLost && second.part?.through == 200_000)
    #expect(try get(other).answer?.isContinued == true)
    #expect(folder.names == ["catalog"])
  }

  @Test func `is continued after every interruption`() throws {
    let server = try RawServer { connection, _ in
      guard let request = connection.readRequest() else { return }
      let first = request.range(of: Self.size)?.lowerBound ?? 0
      let status = first == 0 ? "200 OK" : "206 Partial Content"
      connection.send(
        "HTTP/1.1 \(status)\r\nContent-Length: \(Self.size - first)\r\nETag: \(Self.tag)\r\n"
          + "Content-Range: bytes \(first)-\(Self.size - 1)/\(Self.size)\r\n\r\n"
          + Self.body.dropFirst(first).prefix(70_000))
    }
    for through in [70_000, 140_000, 210_000, 280_000] as [Int64] {
      #expect(try get(server).part == PartProgress(kept: 70_000, through: through))
    }
    #expect(try get(server).answer?.isContinued == true)
    #expect(folder.text("catalog") == Self.body)
  }

  @Test func `is private until the file is complete, which then has the mode of the old file or a new one`()
    throws
  {
    for mode in [nil, 0o640] as [mode_t?] {
      let server = try Self.server()
      if let mode {
        folder.write("catalog", [])
        chmod(folder.file("catalog"), mode)
      }
      _ = try get(server)
      var status = stat()
      stat(folder.file(try #require(part)), &status)
      #expect(status.st_mode & 0o777 == 0o600)
      _ = try get(server)
      folder.write("other", [])
      var other = stat()
      stat(folder.file("other"), &other)
      stat(folder.file("catalog"), &status)
      #expect(status.st_mode & 0o777 == mode ?? other.st_mode & 0o777)
      #expect(status.st_size == Self.size)
      unlink(folder.file("catalog"))
    }
  }

  @Test func `is dropped if the document has changed`() throws {
    let new = String(repeating: "new ", count: 100_000)
    let server = try Self.server { _ in answer(headers: ["ETag: \"v2\""], body: new) }
    _ = try get(server)
    let second = try get(server)
    #expect(second.answer?.status == 200 && second.answer?.isContinued == false)
    #expect(second.part == PartProgress(dropped: 200_000))
    #expect(folder.text("catalog") == new)
    #expect(folder.names == ["catalog"])
  }

  @Test(arguments: [
    ["Content-Range: bytes 200001-299999/300000", "ETag: \"v1\""],
    ["Content-Range: bytes 200000-299999/300001", "ETag: \"v1\""],
    ["Content-Range: bytes 200000-299998/300000", "ETag: \"v1\""],
    ["Content-Range: bytes 200000-299999/300000", "ETag: \"v2\""],
    ["Content-Range: bytes 200000-299999/300000", "ETag: W/\"v1\""],
    ["Content-Range: bytes 200000-299999/*", "ETag: \"v1\""],
    ["Content-Range: bytes 200000-299999/300000", "Content-Range: bytes 0-99999/300000"],
    ["Content-Range: bytes 200000-99999999999999999999/300000"],
    ["Content-Type: multipart/byteranges; boundary=x"],
    [],
  ]) func `is neither continued nor kept if the response does not fit`(_ fields: [String]) throws {
    let server = try Self.server { _ in
      answer("206 Partial Content", headers: fields, body: String(Self.body.suffix(100_000)))
    }
    _ = try get(server)
    let second = try get(server)
    #expect(second.answer?.status == 206 && second.answer?.refusal != nil)
    #expect(second.answer?.isContinued == false && second.answer?.askedForRest == true)
    #expect(second.part == PartProgress(dropped: 200_000))
    #expect(folder.names == [])
  }

  /// The length of a chunked response is not known before its end.
  @Test(arguments: [(249_999, 50_001), (299_999, 100_001)])
  func `is dropped if the response has more bytes than it announced`(_ last: Int, _ count: Int) throws {
    let server = try Self.server { _ in
      let bytes = (Self.body + "x").dropFirst(200_000).prefix(count)
      return
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 200000-\(last)/300000\r\nETag: \(Self.tag)\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(bytes)\r\n0\r\n\r\n"
    }
    _ = try get(server)
    let second = try get(server)
    #expect(second.failure?.code == .malformedResponse)
    #expect(second.failure?.message.contains("continues after byte \(last),") == true)
    #expect(second.part == PartProgress(dropped: 200_000))
    #expect(folder.names == [])
  }

  /// A server may compress the rest of the document instead of sending the rest of the compressed document.
  @Test func `is dropped if the rest has a content coding and no length`() throws {
    let accepted = TransferRequest.HeaderField(name: "Accept-Encoding", value: "gzip")
    let server = try Self.server { _ in
      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 200000-299999/300000\r\nETag: \(Self.tag)\r\n"
        + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngzip\r\n0\r\n\r\n"
    }
    _ = try get(server, headers: [accepted])
    let second = try get(server, headers: [accepted])
    #expect(second.answer?.refusal?.contains("Content-Encoding: gzip") == true, "\(second)")
    #expect(second.part == PartProgress(dropped: 200_000))
    #expect(folder.names == [])
  }

  @Test func `is dropped if the rest omits the header with the checksum of the document`() throws {
    let server = try Self.server()
    _ = try get(server, checksum: .field("Repr-Digest"))
    let second = try get(server, checksum: .field("Repr-Digest"))
    #expect(second.answer?.refusal == "the part has no header 'Repr-Digest', which 'checksum' requires")
    #expect(second.answer?.askedForRest == true && second.part == PartProgress(dropped: 200_000))
    #expect(folder.names == [])
  }

  @Test(arguments: [304, 400, 412, 416, 431])
  func `is dropped if the server refuses the request for the rest`(_ status: Int) throws {
    let server = try Self.server { _ in
      status == 304 ? "HTTP/1.1 304 Not Modified\r\n\r\n" : answer("\(status) No")
    }
    _ = try get(server)
    let second = try get(server)
    #expect(second.answer?.status == status && second.answer?.askedForRest == true)
    #expect(second.part == PartProgress(dropped: 200_000))
    #expect(folder.names == [])
  }

  @Test func `is continued if the server sends less than the rest`() throws {
    let server = try Self.server { request in
      let first = request.range(of: Self.size)?.lowerBound ?? 0
      let last = min(first + 49_999, Self.size - 1)
      return answer(
        "206 Partial Content",
        headers: ["Content-Range: bytes \(first)-\(last)/\(Self.size)", "ETag: \(Self.tag)"],
        body: String(Self.body.dropFirst(first).prefix(50_000)))
    }
    _ = try get(server)
    let second = try get(server)
    #expect(second.failure?.code == .connectionLost)
    #expect(second.part == PartProgress(kept: 50_000, through: 250_000))
    #expect(try get(server).answer?.isContinued == true)
    #expect(folder.text("catalog") == Self.body)
  }

  @Test(arguments: [500, 503, 404])
  func `remains if the server fails`(_ status: Int) throws {
    let server = try Self.server { _ in answer("\(status) No") }
    _ = try get(server)
    let second = try get(server)
    #expect(second.part == PartProgress(through: 200_000))
    #expect(part != nil)
  }

  @Test(arguments: [
    [], ["ETag: W/\"v1\""], ["ETag: \"v1\"", "Accept-Ranges: none"],
    // The document may have changed again within the second of its date.
    ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:37 GMT"],
    ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
    ["ETag: \"v1\"", "ETag: \"v2\""],
  ]) func `is not kept without a strong validator`(_ fields: [String]) throws {
    let server = try Self.server(fields: fields)
    #expect(try get(server).part == PartProgress())
    #expect(folder.names == [])
    _ = try get(server)
    #expect(server.requests[1].header("range") == nil)
  }

  @Test func `is continued by its date if the date is a strong validator`() throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let server = try Self.server(fields: ["Last-Modified: \(date)", "Date: Sun, 06 Nov 1994 08:49:38 GMT"]) {
      _ in
      answer(
        "206 Partial Content", headers: ["Content-Range: bytes 200000-299999/300000"],
        body: String(Self.body.suffix(100_000)))
    }
    _ = try get(server)
    let second = try get(server)
    #expect(server.requests[1].header("if-range") == date)
    // The response need not repeat the date.
    #expect(second.answer?.header("last-modified") == date)
    #expect(folder.text("catalog") == Self.body)
  }

  @Test func `that is complete asks for the last byte again`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if number > 0 {
          connection.send(Self.rest(request))
        } else {
          // Without the last byte of the body, ferry keeps a part. The test completes this part.
          return connection.send(
            "HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\nETag: \(Self.tag)\r\n\r\n"
              + Self.body.prefix(299_999))
        }
      }
    }
    _ = try get(server)
    let path = folder.file(try #require(part))
    // The part as a kill leaves it after the last byte has been written, and before the file is stored.
    let descriptor = open(path, O_RDWR)
    #expect(pwrite(descriptor, "i", 1, off_t(Self.size - 1)) == 1)
    let complete = PartRecord(
      source: try #require(record(descriptor)).source, validator: Self.tag, size: Int64(Self.size),
      written: WrittenRanges(first: Int64(Self.size)), boot: try #require(SystemBoot.identifier))
    #expect(DownloadFile.write(complete, to: descriptor))
    close(descriptor)
    #expect(try get(server, limit: Int64(Self.size)).answer?.isContinued == true)
    #expect(server.requests[1].header("range") == "bytes=299999-")
    #expect(folder.text("catalog") == Self.body)
  }

  private func record(_ descriptor: CInt) -> PartRecord? {
    var bytes = [UInt8](repeating: 0, count: PartRecord.length)
    #expect(pread(descriptor, &bytes, bytes.count, off_t(Self.size)) == bytes.count)
    return PartRecord(bytes)
  }

  @Test func `is used only for its own URL, representation and work`() throws {
    let accept = TransferRequest.HeaderField(name: "Accept", value: "text/plain")
    for (path, owner, headers) in [
      ("/other", "s/catalog", []), ("/catalog", "s/other", []), ("/catalog", "s/catalog", [accept]),
      ("/catalog", nil, []),
    ] as [(String, String?, [TransferRequest.HeaderField])] {
      let server = try Self.server()
      _ = try get(server)
      #expect(try get(server, path, owner: owner, headers: headers).answer?.status == 200)
      #expect(server.requests[1].header("range") == nil)
      #expect(folder.text("catalog") == Self.body)
    }
  }

  @Test func `is continued after a redirect to a URL with a new signature`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if request.target == "/catalog" {
          connection.send(answer("302 Found", headers: ["Location: /stored?signature=\(number)"]))
        } else if number == 0 {
          return connection.send(
            "HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\nETag: \(Self.tag)\r\n\r\n"
              + Self.body.prefix(100_000))
        } else {
          connection.send(Self.rest(request))
        }
      }
    }
    #expect(try get(server).part?.through == 100_000)
    #expect(try get(server).answer?.isContinued == true)
    // Only the server of the document receives the request for the rest.
    #expect(server.requests.map { $0.header("range") } == [nil, nil, nil, "bytes=100000-"])
    #expect(folder.text("catalog") == Self.body)
  }

  @Test func `is not used if it is damaged or from before the last start of the system`() throws {
    for (offset, byte) in [(Self.size + 20, "?"), (Self.size + 5, "?")] {
      let server = try Self.server()
      _ = try get(server)
      let descriptor = open(folder.file(try #require(part)), O_RDWR)
      #expect(pwrite(descriptor, byte, 1, off_t(offset)) == 1)
      close(descriptor)
      #expect(try get(server).answer?.status == 200)
      #expect(server.requests[1].header("range") == nil)
    }
    let server = try Self.server()
    _ = try get(server)
    let descriptor = open(folder.file(try #require(part)), O_RDWR)
    var old = try #require(record(descriptor))
    old.boot = "another"
    #expect(DownloadFile.write(old, to: descriptor))
    close(descriptor)
    _ = try get(server)
    #expect(server.requests[1].header("range") == nil)
    #expect(folder.names == ["catalog"])
  }

  @Test func `is not a link, a file with another name, or a file that others can read`() throws {
    folder.write("victim", Array("victim".utf8))
    let path = folder.file(TemporaryName.kept(for: "catalog", owner: "s/catalog"))
    // A file of this user is removed, and a new part is created.
    for (status, prepare) in [
      (200, { symlink(self.folder.file("victim"), path) }), (206, { link(self.folder.file("victim"), path) }),
      (200, { mkfifo(path, 0o600) }), (200, { mkdir(path, 0o700) }), (206, { close(creat(path, 0o644)) }),
    ] as [(Int, () -> CInt)] {
      #expect(prepare() == 0)
      let server = try Self.server()
      #expect(try get(server).failure?.code == .connectionLost)
      #expect(try get(server).answer?.status == status)
      #expect(folder.text("catalog") == Self.body)
      #expect(folder.text("victim") == "victim")
      unlink(path)
      rmdir(path)
    }
  }

  @Test func `counts for the maximum size`() throws {
    let server = try Self.server()
    _ = try get(server)
    let second = try get(server, limit: Int64(Self.size) - 1)
    #expect(second.failure?.code == .responseTooLarge)
    #expect(
      second.failure?.message.hasSuffix("the response of 300000 bytes is larger than max_size, 299999 bytes")
        == true)
    #expect(try get(server, limit: Int64(Self.size)).answer?.isContinued == true)
  }

  @Test func `is removed if a check refuses the whole document`() throws {
    let server = try Self.server()
    _ = try get(server)
    let check = TransferRequest.DownloadCheck(readsBody: true) { response in
      response.body == Array(Self.body.utf8) ? "it is whole" : "it is not whole"
    }
    #expect(try get(server, check: check).answer?.refusal == "it is whole")
    #expect(folder.names == [])
  }
}

@Suite struct `The record of a part` {
  static let record = PartRecord(
    source: "00ff", validator: "\"v 1\"".replacing(" ", with: "_"), size: 10,
    written: WrittenRanges(first: 3), boot: "a-b")

  @Test func `can be read back, and takes the same space whatever its validator`() {
    for validator in [
      Self.record.validator, "\"" + String(repeating: "x", count: Validator.limit - 2) + "\"",
    ] {
      var record = Self.record
      record.validator = validator
      #expect(record.bytes.count == PartRecord.length)
      #expect(PartRecord(record.bytes) == record)
    }
  }

  @Test func `is rejected if any of its bytes is different`() {
    let bytes = Self.record.bytes
    let used = bytes.firstIndex(of: 0) ?? 0
    for index in 0..<used {
      var damaged = bytes
      damaged[index] ^= 1
      #expect(PartRecord(damaged) == nil)
    }
    #expect(PartRecord(Array(bytes.dropLast())) == nil)
    #expect(PartRecord([UInt8](repeating: 0, count: PartRecord.length)) == nil)
  }
}

import FerryDigest
import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

@Suite struct UploadTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func put(
    _ server: RawServer, _ source: TransferRequest.FileSource, method: String = "PUT",
    atMostOnce: Bool = false
  ) -> TransferRequest {
    TransferRequest(
      id: 1, method: method, url: server.url + "/f", body: .file(source), atMostOnce: atMostOnce)
  }

  @Test(arguments: [0, 1, 1024, (64 << 10) - 1, 64 << 10, 1 << 20, (1 << 20) + 1, 20 << 20])
  func aFileArrivesUnchanged(size: Int) throws {
    let server = try RawServer { _ in answer("201 Created") }
    let bytes = pattern(size)
    folder.write("f", bytes)
    let outcome = try loop.run(put(server, folder.source("f", wantsSHA256: true)))
    let request = try #require(server.requests.first)
    #expect(outcome.answer?.status == 201)
    #expect(request.method == "PUT")
    #expect(request.body == bytes)
    #expect(request.header("content-length") == "\(size)")
    #expect(request.header("content-type") == nil)
    #expect((request.header("expect") != nil) == (size > 1 << 20))
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
    #expect(outcome.traffic.bodySent == Int64(size))
    #expect(outcome.traffic.headersSent > 0 && outcome.traffic.headersSent < 400)
  }

  @Test(arguments: [
    0..<0, 5..<5, 0..<1, 999..<100_000, 70_000..<(70_000 + (64 << 10)), 100_000..<3_000_000, 0..<3_000_000,
  ])
  func aPartOfAFileArrivesUnchanged(part: Range<Int>) throws {
    let server = try RawServer { _ in answer("202 Accepted") }
    let bytes = pattern(3_000_000)
    folder.write("f", bytes)
    var source = folder.source("f")
    source.part = Int64(part.lowerBound)..<Int64(part.upperBound)
    let outcome = try loop.run(put(server, source))
    let request = try #require(server.requests.first)
    #expect(outcome.answer?.status == 202)
    #expect(request.body == Array(bytes[part]))
    #expect(request.header("content-length") == "\(part.count)")
    #expect(outcome.traffic.bodySent == Int64(part.count))
  }

  @Test(arguments: [10..<20, 10..<200_000]) func aPartOfAChangedFileIsNotSent(part: Range<Int>) throws {
    let server = try RawServer { _ in answer("202 Accepted") }
    folder.write("f", pattern(300_000))
    var source = folder.source("f")
    source.part = Int64(part.lowerBound)..<Int64(part.upperBound)
    folder.write("f", pattern(300_001))
    let outcome = try loop.run(put(server, source))
    #expect(outcome.failure?.code == .sourceChanged)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: ["POST", "PATCH", "PUT", "REPORT", "GET"])
  func anyMethodSendsBytes(method: String) throws {
    let server = try RawServer { _ in answer() }
    _ = try loop.run(
      TransferRequest(id: 1, method: method, url: server.url + "/x?y=1", body: .bytes(Array("hello".utf8))))
    let request = try #require(server.requests.first)
    #expect(request.method == method)
    #expect(request.target == "/x?y=1")
    #expect(request.body == Array("hello".utf8))
  }

  @Test(arguments: ["GET", "HEAD", "DELETE", "OPTIONS"])
  func aMethodWithoutABodyAnnouncesNone(method: String) throws {
    let server = try RawServer { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: b\r\n\r\n" }
    let outcome = try loop.run(TransferRequest(id: 1, method: method, url: server.url))
    #expect(server.requests.first?.method == method)
    #expect(server.requests.first?.header("content-length") == nil)
    #expect(outcome.answer?.header("x-a") == "b")
  }

  @Test func aPostWithoutABodyAnnouncesAnEmptyOne() throws {
    let server = try RawServer { _ in answer() }
    _ = try loop.run(TransferRequest(id: 1, method: "POST", url: server.url))
    #expect(server.requests.first?.header("content-length") == "0")
  }

  @Test func aMissingFileIsReportedAsMissing() throws {
    let server = try RawServer { _ in answer() }
    let outcome = try loop.run(
      put(server, .init(root: try folder.root, path: Array("none".utf8), size: 1, modified: 0)))
    #expect(outcome.failure?.code == .sourceMissing)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(server.connectionCount == 0)
  }

  @Test func aFolderIsNoSource() throws {
    let server = try RawServer { _ in answer() }
    let outcome = try loop.run(
      put(server, .init(root: try folder.root, path: Array(".".utf8), size: 1, modified: 0)))
    #expect(outcome.failure?.code == .sourceUnreadable)
  }

  @Test(arguments: ["../outside", "sub/../../outside", "link", "up/outside"])
  func aFileOutsideTheRootIsNoSource(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("root/sub"), withIntermediateDirectories: true)
    let outside = folder.write("outside", [1])
    #expect(symlink("../outside", folder.file("root/link")) == 0)
    #expect(symlink("..", folder.file("root/up")) == 0)
    let server = try RawServer { _ in answer() }
    let root = try SourceRoot(Array(folder.file("root").utf8))
    let outcome = try loop.run(
      put(server, .init(root: root, path: Array(name.utf8), size: 1, modified: outside.modified)))
    #expect(outcome.failure?.code == .sourceChanged)
    #expect(outcome.failure?.message.contains("leads out of the root") == true)
    #expect(outcome.failure?.mayHaveReachedServer == false && server.connectionCount == 0)
  }

  @Test func anotherFileOfTheSameSizeAndTimeIsNotTheSource() throws {
    let server = try RawServer { _ in answer() }
    var source = folder.write("a", [1])
    #expect(source.identity != 0)
    #expect(try loop.run(put(server, source)).answer?.status == 200)
    source.identity ^= 1
    #expect(try loop.run(put(server, source)).failure?.code == .sourceChanged)
  }

  @Test func aNamedPipeIsNoSourceAndDoesNotBlock() throws {
    let server = try RawServer { _ in answer() }
    mkfifo(folder.file("pipe"), 0o600)
    let outcome = try loop.run(put(server, folder.source("pipe")))
    #expect(outcome.failure?.code == .sourceUnreadable)
  }

  /// The inode by which the name is recognized later is that of the link. If the link has been replaced by the file itself,
  /// which other users can do in their folders, the name is not recognized.
  @Test func theInodeOfAListedLinkIsThatOfTheLink() throws {
    let server = try RawServer { _ in answer() }
    let file = folder.write("f", [1])
    func inode(_ name: String) -> UInt64 {
      var status = stat()
      lstat(folder.file(name), &status)
      return name == "link" ? ~UInt64(status.st_ino) : UInt64(status.st_ino)
    }
    #expect(try loop.run(put(server, file)).inode == inode("f"))
    symlink("f", folder.file("link"))
    var status = stat()
    stat(folder.file("f"), &status)
    for size in [1, 200_000] {
      folder.write("f", pattern(size))
      stat(folder.file("f"), &status)
      var source = folder.source("link")
      source.identity = status.identity(throughLink: true)
      #expect(try loop.run(put(server, source)).inode == inode("link"))
      source.identity = 0
      #expect(try loop.run(put(server, source)).inode == inode("link"))
      source.identity = status.identity(throughLink: true)
      unlink(folder.file("link"))
      link(folder.file("f"), folder.file("link"))
      let outcome = try loop.run(put(server, source))
      #expect(outcome.answer?.status == 200 && outcome.inode == nil)
      unlink(folder.file("link"))
      symlink("f", folder.file("link"))
    }
  }

  /// While another user repeatedly exchanges two folders, the inode is never that of a link in the other folder, which leads to
  /// another file of the same size and time.
  @Test func theInodeOfALinkIsThatOfTheLinkToTheOpenFile() throws {
    for name in ["a", "b"] {
      #expect(mkdir(folder.file(name), 0o755) == 0)
      folder.write("\(name)/file", Array(name.utf8))
      #expect(symlink("file", folder.file("\(name)/link")) == 0)
      var times = [timespec(tv_sec: 1_767_225_600, tv_nsec: 0), timespec(tv_sec: 1_767_225_600, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, folder.file("\(name)/file"), &times, 0) == 0)
    }
    var (link, target) = (stat(), stat())
    #expect(lstat(folder.file("a/link"), &link) == 0 && stat(folder.file("a/link"), &target) == 0)
    var source = folder.source("a/link")
    source.identity = target.identity(throughLink: true)
    let path = folder.path
    let isOver = Atomic(false)
    let other = Thread {
      while !isOver.load(ordering: .relaxed) {
        for (old, new) in [("a", "x"), ("b", "a"), ("x", "b"), ("a", "x"), ("b", "a"), ("x", "b")] {
          rename("\(path)/\(old)", "\(path)/\(new)")
        }
      }
    }
    other.start()
    defer { isOver.store(true, ordering: .relaxed) }
    let end = ContinuousClock.now.advanced(by: .seconds(3))
    var found = 0
    while ContinuousClock.now < end {
      // Half of the attempts open the other file, or none.
      guard let file = try? UploadFile(source), let inode = file.inode else { continue }
      #expect(inode == link.entryInode(beneath: source.root.device))
      found += 1
    }
    #expect(found > 0)
  }

  /// libcurl does not report the bytes of a chunk extension, which can be endless.
  @Test(.timeLimit(.minutes(1))) func anEndlessChunkExtensionEndsTheRequest() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;a=")
      let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 64 << 10)
      while connection.trySend(piece) {}
    }
    let outcome = try loop.run(put(server, folder.write("f", [1])))
    #expect(outcome.failure?.code == .responseTooLarge && outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.failure?.message.contains("in addition to its header section and content") == true)
  }

  @Test func aFileBehindALinkIsSent() throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", Array("behind".utf8))
    symlink(folder.file("f"), folder.file("link"))
    let outcome = try loop.run(put(server, folder.source("link")))
    #expect(outcome.answer?.status == 200)
    #expect(server.requests.first?.body == Array("behind".utf8))
  }

  @Test(arguments: [10_413_792_000, -10_413_792_000])
  func aFileOfAYearThatNanosecondsDoNotReachIsSent(seconds: Int) throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", Array("from afar".utf8))
    let times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
    #expect(utimensat(AT_FDCWD, folder.file("f"), times, 0) == 0)
    // A file system that cannot store this time stores the nearest time that it supports.
    let source = folder.source("f", wantsSHA256: true)
    #expect(try FileDigest.sha256(of: source) { false } != nil)
    #expect(try loop.run(put(server, source)).answer?.status == 200)
  }

  @Test(arguments: [100, 1 << 20])
  func aFileThatIsNotAsListedIsNotSent(size: Int) throws {
    let server = try RawServer { _ in answer() }
    var source = folder.write("f", pattern(size))
    source.modified -= 1
    let older = try loop.run(put(server, source))
    #expect(older.failure?.code == .sourceChanged)
    #expect(older.failure?.mayHaveReachedServer == false)
    source.modified += 1
    source.size += 1
    #expect(try loop.run(put(server, source)).failure?.code == .sourceChanged)
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: ["append", "overwrite", "truncate"])
  func aFileThatChangesDuringTheTransferNeverArrivesComplete(change: String) throws {
    let size = 24 << 20
    folder.write("f", pattern(size))
    let path = folder.file("f")
    let server = try RawServer { connection, _ in
      var isChanged = false
      _ = connection.readRequest { received in
        guard received > 1 << 20, !isChanged else { return }
        isChanged = true
        let file = open(path, O_WRONLY)
        switch change {
        case "append": pwrite(file, "x", 1, off_t(size))
        case "overwrite": pwrite(file, "x", 1, off_t(size - 1))
        default: ftruncate(file, off_t(size / 2))
        }
        close(file)
      }
      connection.send(answer())
    }
    let outcome = try loop.run(put(server, folder.source("f", wantsSHA256: true)))
    #expect(outcome.failure?.code == .sourceChanged)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    // The server sees the end of the connection shortly after the client has reported the outcome.
    loop.wait { !server.requests.isEmpty }
    #expect(server.requests.first?.isWhole == false)
  }

  @Test func connectionsAndHandlesAreReused() throws {
    let server = try RawServer { _ in answer() }
    let source = folder.write("f", pattern(1024))
    for _ in 0..<50 { _ = try loop.run(put(server, source)) }
    #expect(server.requests.count == 50)
    #expect(server.connectionCount == 1)
  }

  @Test func noStateOfARequestIsReusedForTheNext() throws {
    let server = try RawServer { _ in answer() }
    let secret = TransferRequest.HeaderField(name: "X-Secret", value: "s")
    folder.write("f", pattern(200_000))
    _ = try loop.run(
      TransferRequest(id: 1, method: "POST", url: server.url, headers: [secret], body: .bytes([1, 2, 3])))
    _ = try loop.run(TransferRequest(id: 2, method: "GET", url: server.url))
    _ = try loop.run(put(server, folder.source("f")))
    _ = try loop.run(TransferRequest(id: 3, method: "HEAD", url: server.url))
    _ = try loop.run(TransferRequest(id: 4, method: "PUT", url: server.url, body: .bytes(pattern(100_000))))
    _ = try loop.run(TransferRequest(id: 5, method: "DELETE", url: server.url))
    _ = try loop.run(TransferRequest(id: 6, method: "POST", url: server.url, body: .bytes([4])))
    let requests = server.requests
    #expect(requests.map(\.method) == ["POST", "GET", "PUT", "HEAD", "PUT", "DELETE", "POST"])
    #expect(requests.map(\.body.count) == [3, 0, 200_000, 0, 100_000, 0, 1])
    #expect(requests.map { $0.header("x-secret") } == ["s", nil, nil, nil, nil, nil, nil])
    #expect(requests.allSatisfy { $0.header("content-type") == nil })
    #expect(requests[1].header("content-length") == nil)
  }

  @Test func aHeaderWithALineEndIsRefused() throws {
    let server = try RawServer { _ in answer() }
    for (name, value) in [("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\0b"), ("X: y\r\nZ", "b"), ("", "b")] {
      let outcome = try loop.run(
        TransferRequest(
          id: 1, method: "GET", url: server.url, headers: [.init(name: name, value: value)]))
      #expect(outcome.failure?.code == .request)
      #expect(outcome.failure?.message.contains("Y: b") == false)
    }
    #expect(server.connectionCount == 0)
  }

  @Test func aContentLengthMustBeTheBodysSize() throws {
    let server = try RawServer { _ in answer() }
    func post(_ length: String) -> TransferRequest {
      TransferRequest(
        id: 1, method: "POST", url: server.url, headers: [.init(name: "Content-Length", value: length)],
        body: .bytes([1, 2]))
    }
    #expect(try loop.run(post("3")).failure?.code == .request)
    #expect(try loop.run(post("2")).answer?.status == 200)
    #expect(server.requests.first?.headers.filter { $0.name == "Content-Length" }.count == 1)
  }

  @Test func anEmptyHeaderValueIsSentEmpty() throws {
    let server = try RawServer { _ in answer() }
    _ = try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, headers: [.init(name: "X-Empty", value: "")]))
    #expect(server.requests.first?.header("x-empty") == "")
  }

  @Test(arguments: [
    "ftp://127.0.0.1/", "127.0.0.1/x", "file:///etc/passwd", "http://h/a b", "http://h/\r\nX: y", "",
  ])
  func aURLThatIsNotHTTPIsRefused(url: String) throws {
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: url))
    #expect(outcome.failure?.code == .request)
    #expect(outcome.failure?.mayHaveReachedServer == false)
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct DownloadTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func get(_ server: RawServer, to name: String = "catalog") throws -> TransferOutcome {
    try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, destination: .file(path: folder.file(name))))
  }

  @Test func aCompleteResponseReplacesTheFile() throws {
    folder.write("catalog", Array("old".utf8))
    let body = String(repeating: "new ", count: 100_000)
    let server = try RawServer { _ in answer(body: body) }
    let outcome = try get(server)
    #expect(outcome.answer?.status == 200)
    #expect(outcome.answer?.body == [])
    #expect(outcome.traffic.bodyReceived == 400_000)
    #expect(folder.text("catalog") == body)
    #expect(folder.names == ["catalog"])
  }

  @Test func aFolderIsNotReplaced() throws {
    #expect(mkdir(folder.file("catalog"), 0o700) == 0)
    let server = try RawServer { _ in answer(body: "new") }
    #expect(try get(server).answer == nil)
    #expect(folder.names == ["catalog"])
  }

  @Test func anEmptyResponseCreatesAnEmptyFile() throws {
    let server = try RawServer { _ in answer() }
    _ = try get(server)
    #expect(folder.text("catalog") == "")
  }

  @Test(arguments: ["500 Broken", "404 Not Found", "206 Partial Content"])
  func anotherStatusLeavesTheFile(status: String) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { _ in answer(status, body: "why") }
    let outcome = try get(server)
    #expect(outcome.answer?.body == Array("why".utf8))
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  @Test(arguments: ["304 Not Modified", "204 No Content"])
  func aResponseWithoutABodyLeavesTheFile(status: String) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { _ in "HTTP/1.1 \(status)\r\n\r\n" }
    #expect(try get(server).answer != nil)
    #expect(folder.text("catalog") == "old")
  }

  @Test(arguments: [true, false])
  func aResponseThatACheckRejectsLeavesTheFile(isRefused: Bool) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { _ in answer(body: "new") }
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("catalog")))
    request.check = .init(readsBody: true) { answer in
      answer.body == Array("new".utf8) && isRefused ? "it is new" : nil
    }
    let outcome = try loop.run(request)
    #expect(outcome.answer?.status == 200)
    #expect(outcome.answer?.refusal == (isRefused ? "it is new" : nil))
    #expect(folder.text("catalog") == (isRefused ? "old" : "new"))
    #expect(folder.names == ["catalog"])
  }

  @Test func aTruncatedResponseLeavesTheFile() throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    }
    loop.start(
      TransferRequest(
        id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("catalog"))))
    let outcome = try #require(loop.finish(1).first)
    #expect(outcome.failure?.code == .connectionLost)
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  /// In Swift, a slash and a combining mark after it are one `Character`.
  @Test func aNameThatBeginsWithACombiningMarkIsStoredInItsFolder() throws {
    let server = try RawServer { _ in answer(body: "new") }
    #expect(mkdir(folder.file("\u{301}d"), 0o700) == 0)
    let path = folder.file("\u{301}d/\u{301}catalog")
    loop.start(TransferRequest(id: 1, method: "GET", url: server.url, destination: .file(path: path)))
    #expect(loop.finish(1).first?.answer?.status == 200)
    #expect(folder.text("\u{301}d/\u{301}catalog") == "new")
  }

  @Test func aCancelledDownloadLeavesNothing() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
      connection.waitForEnd()
    }
    loop.start(
      TransferRequest(
        id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("catalog"))))
    loop.wait { loop.progress.bodyReceived == 4 }
    #expect(folder.names.count == 1)
    #expect(folder.names.first?.hasPrefix(".catalog.ferry-part-") == true)
    loop.cancel(1)
    #expect(loop.finish(1).first?.failure?.code == .cancelled)
    #expect(folder.names == [])
  }

  @Test(.timeLimit(.minutes(1)))
  func onlyRegularLeftoverFilesAreRemovedWithoutBlocking() throws {
    folder.write(".catalog.ferry-part-1", [])
    #expect(mkfifo(folder.file(".catalog.ferry-part-2"), 0o600) == 0)
    #expect(mkdir(folder.file(".catalog.ferry-part-3"), 0o700) == 0)
    folder.write("precious", Array("here".utf8))
    #expect(symlink("precious", folder.file(".catalog.ferry-part-4")) == 0)
    let server = try RawServer { _ in answer(body: "new") }
    #expect(try get(server).answer?.status == 200)
    let others = (2...4).map { ".catalog.ferry-part-\($0)" }
    #expect(folder.names == others + ["catalog", "precious"])
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aLeftoverOfAnotherUserIsNotRemoved() throws {
    for number in 1...2 { folder.write(".catalog.ferry-part-\(number)", []) }
    #expect(chown(folder.file(".catalog.ferry-part-2"), 65534, 65534) == 0)
    let server = try RawServer { _ in answer(body: "new") }
    #expect(try get(server).answer?.status == 200)
    #expect(folder.names == [".catalog.ferry-part-2", "catalog"])
  }

  /// As root, ferry gives its temporary file to the owner of the file that it replaces.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aLeftoverForTheFileOfAnotherUserIsRemoved() throws {
    for name in ["catalog", ".catalog.ferry-part-1"] {
      folder.write(name, [])
      #expect(chown(folder.file(name), 65534, 65534) == 0)
    }
    let server = try RawServer { _ in answer(body: "new") }
    #expect(try get(server).answer?.status == 200)
    #expect(folder.names == ["catalog"])
  }

  @Test(.timeLimit(.minutes(1)))
  func aFileThatAnotherProcessHasLockedIsNotWaitedFor() throws {
    folder.write("new", [])
    let (other, own) = (open(folder.file("new"), O_RDONLY), open(folder.file("new"), O_RDWR))
    defer { for descriptor in [other, own] { close(descriptor) } }
    #expect(flock(other, LOCK_EX) == 0)
    #expect(!DownloadFile.claim(own))
    #expect(flock(other, LOCK_UN) == 0)
    #expect(DownloadFile.claim(own))
    #expect(unlink(folder.file("new")) == 0)
    #expect(!DownloadFile.claim(own))
  }

  @Test func aMissingFolderIsADestinationFailure() throws {
    let server = try RawServer { _ in answer(body: "x") }
    let outcome = try get(server, to: "no/catalog")
    #expect(outcome.failure?.code == .destination)
    #expect(outcome.failure?.mayHaveReachedServer == true)
  }

  @Test func aFullDiskIsADestinationFailure() throws {
    // Writes to /dev/full fail as on a full disk.
    let file = try DownloadFile(folder.file("x"))
    let replaced = open("/dev/full", O_WRONLY)
    let descriptor = (0..<65_536).first { CInt($0) != replaced && Self.isPart(CInt($0), in: folder.path) }
    dup2(replaced, CInt(try #require(descriptor)))
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 10, alignment: 1)
    defer { bytes.deallocate() }
    do throws(TransportFailure) {
      var position = DownloadFile.Position()
      try file.append(UnsafeRawBufferPointer(bytes), at: &position)
      Issue.record("a full disk took the bytes")
    } catch {
      #expect(error.code == .destination)
      #expect(error.message.hasSuffix("No space left on device"))
    }
    close(replaced)
  }

  private static func isPart(_ descriptor: CInt, in folder: String) -> Bool {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return link?.hasPrefix(folder + "/.x.ferry-part-") == true  // A closed descriptor has no link.
  }

  @Test func theServerCannotChooseThePath() throws {
    let server = try RawServer { _ in
      answer(
        headers: ["Content-Disposition: attachment; filename=\"../../evil\""], body: "x")
    }
    _ = try get(server)
    #expect(folder.names == ["catalog"])
  }

  @Test func aLongNameHasATemporaryName() throws {
    let name = String(repeating: "ä", count: 127)
    let server = try RawServer { _ in answer(body: "x") }
    #expect(try get(server, to: name).answer?.status == 200)
    #expect(folder.text(name) == "x")
  }
}

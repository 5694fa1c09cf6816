import Foundation
import Testing

@testable import FerryEngine

/// Files of every type that the operating system supports.
struct WholeFileTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func failure(_ path: String) -> String? {
    do {
      _ = try FileContents(path).bytes(limit: 10)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func aFileIsReadUpToTheLimit() throws {
    folder.file("a", size: 200_000)
    let file = FileContents(folder.path + "/a")
    #expect(try file.bytes(limit: 1 << 20).count == 200_000)
    #expect(try file.bytes(limit: 200_000).count == 200_000)
    #expect(try file.bytes(limit: 70_000).count == 70_000)
    #expect(try file.bytes(limit: 0) == [])
  }

  @Test func aDeviceIsRead() throws {
    #expect(try FileContents("/dev/null").bytes(limit: 100) == [])
    #expect(try FileContents("/dev/zero").bytes(limit: 100_000) == [UInt8](repeating: 0, count: 100_000))
  }

  @Test func aPipeIsReadToItsEnd() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("one".utf8))
    try pipe.fileHandleForWriting.write(contentsOf: Data("two".utf8))
    try pipe.fileHandleForWriting.close()
    let file = FileContents("/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
    #expect(String(decoding: try file.bytes(limit: 100), as: UTF8.self) == "onetwo")
  }

  @Test func anUnreadableFileIsReportedWithTheSystemsError() {
    folder.link("circle", to: "circle")
    #expect(failure(folder.path) == "Is a directory")
    #expect(failure(folder.path + "/none") == "No such file or directory")
    #expect(failure(folder.path + "/circle") == "Too many levels of symbolic links")
    #expect(failure("/dev/null\0/none") == "Invalid argument")
    #expect(failure("") == "No such file or directory")
  }

  @Test func aFileHasTheSameIdentityUnderEveryName() throws {
    folder.file("in/a")
    folder.file("in/b")
    folder.link("link", to: "in/a")
    #expect(link(folder.path + "/in/b", folder.path + "/hard") == 0)
    func identity(_ name: String) throws -> [UInt64] {
      let identity = try #require(FileContents(folder.path + "/" + name).identity)
      return [identity.device, identity.inode]
    }
    #expect(try identity("in/a") == identity("link"))
    #expect(try identity("in/a") == identity("in/../in/a"))
    #expect(try identity("in/b") == identity("hard"))
    #expect(try identity("in/a") != identity("in/b"))
    #expect(FileContents(folder.path + "/none").identity == nil)
  }
}

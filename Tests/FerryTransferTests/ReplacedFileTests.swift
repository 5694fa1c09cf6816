import Foundation
import Testing

@testable import FerryTransfer

/// The access rights of a file that replaces another one in a world-writable folder.
@Suite struct ReplacedFileTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    #expect(mkdir(folder.file("shared"), 0o700) == 0 && chmod(folder.file("shared"), 0o1777) == 0)
  }

  /// The mode of a file that replaces the one with this name.
  private func mode(replacing name: String) throws -> mode_t {
    let replaced = ReplacedFile(folder.file(name))
    let new = open(folder.file("new"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced.creationMode)
    try #require(new >= 0)
    defer {
      close(new)
      unlink(folder.file("new"))
    }
    var status = stat()
    #expect(replaced.restrict(new) == 0 && fstat(new, &status) == 0)
    return status.st_mode & 0o777
  }

  /// Another user who may read and write a file can create a hard link to it in such a folder.
  @Test func aFileWithSeveralNamesDoesNotPassOnItsRights() throws {
    folder.write("open", [1])
    #expect(chmod(folder.file("open"), 0o666) == 0)
    #expect(link(folder.file("open"), folder.file("shared/report")) == 0)
    #expect(try mode(replacing: "shared/report") == 0o600)
    #expect(ReplacedFile.refusal(folder.file("shared/report")) == nil)
    // Elsewhere, only this user can have created the name.
    #expect(try mode(replacing: "open") == 0o666)
    #expect(unlink(folder.file("open")) == 0)
    #expect(try mode(replacing: "shared/report") == 0o666)
  }

  /// Where fs.protected_hardlinks is 0, any user can give this user's link a second name in such a folder.
  @Test func aLinkWithSeveralNamesIsNotFollowed() throws {
    folder.write("target", [1])
    #expect(mkdir(folder.file("folder"), 0o700) == 0)
    for (target, name) in [("../target", "link"), ("../folder", "way")] {
      #expect(symlink(target, folder.file(name)) == 0)
      #expect(link(folder.file(name), folder.file("shared/\(name)")) == 0)
    }
    #expect(ReplacedFile.refusal(folder.file("shared/link"))?.contains("several hard links") == true)
    for path in ["shared/link", "shared/way/file"] {
      let failure = #expect(throws: FolderPath.Failure.self) {
        try FolderPath.file(Array(folder.file(path).utf8), for: .updating, creationMode: 0o600)
      }
      #expect(failure?.reason.contains("several hard links") == true)
    }
    for name in ["link", "way"] { #expect(unlink(folder.file(name)) == 0) }
    #expect(ReplacedFile.refusal(folder.file("shared/link")) == nil)
    close(try FolderPath.file(Array(folder.file("shared/link").utf8), for: .updating))
  }
}

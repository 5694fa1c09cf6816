import Foundation
import Testing

@testable import FerryEngine

@Suite struct ScriptFolderTests {
  private func write(to folder: String) throws(UsageError) {
    try ScriptFolder.write(
      [.init("run.sh", text: "true\n"), .init("notes", .document, text: "x\n")], to: folder)
  }

  private func mode(of path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test func theFilesAreAccessibleOnlyToTheUser() throws {
    let folder = try TestFolder()
    let out = folder.path + "/out"
    // The second time, the files are replaced.
    for _ in 1...2 { try write(to: out) }
    #expect(mode(of: out) == 0o700 && mode(of: out + "/run.sh") == 0o700 && mode(of: out + "/notes") == 0o600)
  }

  @Test(arguments: [0o777, 0o1777])
  func aFolderInWhichAnyUserCouldReplaceTheScriptIsRefused(_ access: mode_t) throws {
    let folder = try TestFolder()
    let out = folder.path + "/out"
    try #require(mkdir(out, 0o700) == 0 && chmod(out, access) == 0)
    let error = #expect(throws: UsageError.self) { try write(to: out) }
    #expect(error.map { "\($0)" }?.contains("any user can write to this folder") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: out) == [])
  }

  @Test(.enabled("only root may give folders away") { geteuid() == 0 })
  func aFolderThatAnotherUserHasPreparedIsRefused() throws {
    let folder = try TestFolder()
    let out = folder.path + "/out"
    try #require(chmod(folder.path, 0o1777) == 0 && mkdir(out, 0o700) == 0 && chown(out, 65534, 65534) == 0)
    let error = #expect(throws: UsageError.self) { try write(to: out) }
    #expect(error.map { "\($0)" }?.contains("belongs to user 65534") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: out) == [])
  }
}

import FerryTransfer
import Foundation
import Testing

@testable import FerryEngine

/// The modes of folders that are created when a file is moved.
struct FolderPermissionsTests {
  private let folder: TestFolder
  private let folders: OpenFolders

  init() throws {
    folder = try TestFolder()
    folders = try #require(OpenFolders(root: SourceRoot(Array(folder.path.utf8))))
  }

  private func make(_ name: String, _ mode: mode_t, group: gid_t = getegid()) {
    let path = "\(folder.path)/\(name)"
    #expect(mkdir(path, 0o700) == 0 && chown(path, geteuid(), group) == 0 && chmod(path, mode) == 0)
  }

  private func open(_ path: String) throws -> OpenFolders.Source {
    .init(
      descriptor: try folders.descriptor(Array(path.utf8)), depth: path.split(separator: "/").count)
  }

  /// The mode of a folder, which is created if it is missing.
  private func mode(_ path: String, from source: OpenFolders.Source) throws -> mode_t {
    var status = stat()
    let descriptor = try folders.targetDescriptor(Array(path.utf8), from: source)
    #expect(fstat(descriptor, &status) == 0)
    return status.st_mode & 0o777
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat("\(folder.path)/\(path)", &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func areThoseOfTheOpenFolders() throws {
    for (name, mode) in [("a", 0o711), ("a/b", 0o700), ("a/b/c", 0o755)] { make(name, mode_t(mode)) }
    #expect(try mode("sent/a/b/c", from: open("a/b/c")) == 0o755)
    #expect(mode("sent/a/b") == 0o700 && mode("sent/a") == 0o711)
  }

  /// Another user who may write to the root exchanges the folder after ferry has opened it.
  @Test func areNotThoseOfALinkThatHasReplacedTheFolder() throws {
    make("priv", 0o700)
    make("priv/deep", 0o755)
    make("pub", 0o755)
    make("pub/deep", 0o755)
    let (outer, inner) = (try open("priv"), try open("priv/deep"))
    #expect(rename("\(folder.path)/priv", "\(folder.path)/kept") == 0)
    #expect(symlink("pub", "\(folder.path)/priv") == 0)
    #expect(try mode("one/priv", from: outer) == 0o700)
    _ = try mode("two/priv/deep", from: inner)
    #expect(mode("two/priv") == 0o700)
  }

  /// The path does not contain the folder that protects the file.
  @Test func areRestrictedByTheFoldersAboveTheTargetOfALink() throws {
    make("x", 0o700)
    make("x/y", 0o755)
    #expect(symlink("x/y", "\(folder.path)/link") == 0)
    #expect(try mode("sent/link", from: open("link")) == 0o700)
    make("z", 0o755)
    #expect(symlink("../z", "\(folder.path)/x/up") == 0)
    #expect(try mode("sent/x/up", from: open("x/up")) == 0o755)
    #expect(mode("sent/x") == 0o700)
  }

  @Test(.enabled("only root may choose any group", { geteuid() == 0 }))
  func giveNoRightsToAnotherGroup() throws {
    make("a", 0o750)
    make("b", 0o750, group: 65534)
    #expect(try mode("sent/a", from: open("a")) == 0o750)
    #expect(try mode("sent/b", from: open("b")) == 0o700)
    make("shared", 0o2750, group: 65534)
    #expect(try mode("shared/a", from: open("a")) == 0o700)
    #expect(try mode("shared/b", from: open("b")) == 0o750)
  }
}

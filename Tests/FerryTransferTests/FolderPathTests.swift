import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

@Suite struct FolderPathTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func inode(_ path: String) throws -> ino_t {
    var status = stat()
    #expect(stat(path, &status) == 0)
    return status.st_ino
  }

  /// The inode of the folder that a path names.
  private func opened(
    _ path: String, _ trust: FolderPath.Trust = .ownEntries
  ) throws(FolderPath.Failure) -> ino_t {
    let descriptor = try FolderPath.descriptor(of: Array(path.utf8), trusting: trust)
    defer { close(descriptor) }
    var status = stat()
    #expect(fstat(descriptor, &status) == 0)
    return status.st_ino
  }

  @Test func aPathThatEndsWithASlashIsNoFile() throws {
    for path in [folder.path + "/", "/", "there/"] {
      let failure = #expect(throws: FolderPath.Failure.self) {
        try FolderPath.file(Array(path.utf8), for: .readingAtOnce)
      }
      guard case .system(EISDIR) = failure else {
        Issue.record("\(path): \(String(describing: failure))")
        continue
      }
    }
  }

  @Test func aMissingFileIsCreatedWithTheGivenMode() throws {
    let path = folder.file("new")
    let failure = #expect(throws: FolderPath.Failure.self) {
      try FolderPath.file(Array(path.utf8), for: .updating)
    }
    guard case .system(ENOENT) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(symlink("target", folder.file("link")) == 0)
    for (name, created) in [("new", "new"), ("link", "target")] {
      close(try FolderPath.file(Array(folder.file(name).utf8), for: .updating, creationMode: 0o600))
      var status = stat()
      #expect(lstat(folder.file(created), &status) == 0)
      #expect(status.st_mode == S_IFREG | 0o600)
      #expect(status.st_uid == geteuid())
    }
  }

  private func makeFolder(_ name: String, mode: mode_t = 0o755) {
    #expect(mkdir(folder.file(name), 0o700) == 0)
    #expect(chmod(folder.file(name), mode) == 0)
  }

  @Test func aPathIsResolvedAsTheKernelResolvesIt() throws {
    for name in ["a", "a/b", "c"] { makeFolder(name) }
    for (target, link) in [
      ("a/b", "relative"), ("../c", "a/up"), (folder.file("a"), "absolute"), ("relative", "chain"),
    ] {
      #expect(symlink(target, folder.file(link)) == 0)
    }
    for path in [
      "", "a", "a/b", "a//b/", "./a/./b", "a/../c", "relative", "chain", "a/up", "absolute/b",
      "relative/../up",
      "relative/..", "absolute/up/../a/b/",
    ] {
      let full = folder.file(path)
      #expect(try opened(full) == inode(full), "\(path)")
    }
    #expect(try opened(".") == inode("."))
    #expect(try opened("/") == inode("/"))
  }

  @Test(arguments: [
    ("missing", ENOENT), ("file", ENOTDIR), ("file/x", ENOTDIR), ("loop", ELOOP), ("dangling", ENOENT),
  ])
  func anUnresolvablePathHasTheSystemsError(path: String, code: CInt) throws {
    folder.write("file", [1])
    #expect(symlink("loop", folder.file("loop")) == 0)
    #expect(symlink("nowhere", folder.file("dangling")) == 0)
    do throws(FolderPath.Failure) {
      _ = try opened(folder.file(path))
      Issue.record("it was opened")
    } catch {
      guard case .system(let found) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(found == code)
    }
  }

  @Test func anEmptyPathLeadsNowhere() {
    #expect(throws: FolderPath.Failure.self) { _ = try opened("") }
    #expect(throws: FolderPath.Failure.self) { _ = try opened("/\0") }
  }

  private func refusal(_ path: String, _ trust: FolderPath.Trust = .ownEntries) -> String? {
    do throws(FolderPath.Failure) {
      _ = try opened(path, trust)
      return nil
    } catch {
      guard case .foreign = error else {
        Issue.record("\(error)")
        return nil
      }
      return error.reason
    }
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func noLinkOfAnotherUserIsFollowedInAWorldWritableFolder() throws {
    makeFolder("shared", mode: 0o1777)
    makeFolder("private")
    makeFolder("private/inner")
    makeFolder("shared/theirs")
    makeFolder("shared/theirs/inner")
    makeFolder("shared/mine")
    #expect(symlink("../private", folder.file("shared/link")) == 0)
    #expect(symlink("../private", folder.file("shared/own")) == 0)
    #expect(symlink("shared/link", folder.file("way")) == 0)
    for name in ["shared/theirs", "shared/link"] { #expect(lchown(folder.file(name), 65534, 65534) == 0) }
    for path in ["shared/link", "shared/link/inner", "way/inner"] {
      for trust in [FolderPath.Trust.ownEntries, .foreignFolders] {
        let text = refusal(folder.file(path), trust)
        #expect(text?.contains("symbolic link of user 65534") == true, "\(path): \(text ?? "nil")")
      }
    }
    #expect(refusal(folder.file("shared/link/inner"))?.hasPrefix(folder.file("shared/link is")) == true)
    for path in ["shared/theirs", "shared/theirs/inner"] {
      #expect(refusal(folder.file(path))?.hasPrefix(folder.file("shared/theirs belongs to")) == true)
      #expect(refusal(folder.file(path), .foreignFolders) == nil)
    }
    for path in ["shared/own/inner", "shared/mine"] { #expect(refusal(folder.file(path)) == nil, "\(path)") }
    // Linux applies the same rule with fs.protected_symlinks=1: the folder's owner may create links there.
    #expect(chown(folder.file("shared"), 65534, 65534) == 0)
    #expect(refusal(folder.file("shared/link/inner")) == nil)
    #expect(chmod(folder.file("shared"), 0o755) == 0)
    #expect(refusal(folder.file("shared/theirs/inner")) == nil)
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aFileIsNotOpenedThroughALinkOfAnotherUser() throws {
    func read(_ name: String) throws -> String {
      let descriptor = try FolderPath.file(Array(folder.file(name).utf8), for: .readingAtOnce)
      return String(
        decoding: try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data(),
        as: UTF8.self)
    }
    makeFolder("shared", mode: 0o1777)
    makeFolder("private")
    folder.write("private/key", Array("key".utf8))
    folder.write("shared/theirs", Array("theirs".utf8))
    for (target, link) in [
      ("../private/key", "shared/link"), ("../private/key", "shared/mine"), ("shared/link", "way"),
      ("shared/mine", "own"), ("own", "chain"), ("circle", "circle"),
    ] {
      #expect(symlink(target, folder.file(link)) == 0)
    }
    for name in ["shared/link", "shared/theirs"] { #expect(lchown(folder.file(name), 65534, 65534) == 0) }
    for name in ["private/key", "shared/mine", "own", "chain"] { #expect(try read(name) == "key") }
    for name in ["shared/link", "way", "shared/theirs", "circle", "missing", "private"]
    where name != "private" {
      #expect(throws: FolderPath.Failure.self) { _ = try read(name) }
    }
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aFileOfAnotherUserIsNotOpenedForWriting() throws {
    makeFolder("shared", mode: 0o1777)
    folder.write("shared/theirs", Array("theirs".utf8))
    let path = folder.file("shared/theirs")
    #expect(chown(path, 65534, 65534) == 0)
    for access in [FolderPath.Access.appending, .updating] {
      let failure = #expect(throws: FolderPath.Failure.self) {
        try FolderPath.file(Array(path.utf8), for: access, creationMode: 0o600)
      }
      guard case .foreign(_, 65534, false) = failure else {
        Issue.record("\(access): \(String(describing: failure))")
        continue
      }
    }
    #expect(folder.text("shared/theirs") == "theirs")
    // The folder's owner is trusted.
    #expect(chown(folder.file("shared"), 65534, 65534) == 0)
    close(try FolderPath.file(Array(path.utf8), for: .updating, creationMode: 0o600))
  }

  /// Where fs.protected_hardlinks is 0, any user can give this user's file a second name in such a folder.
  @Test func aFileWithSeveralNamesInAWorldWritableFolderIsNotWritten() throws {
    makeFolder("shared", mode: 0o1777)
    folder.write("profile", Array("mine".utf8))
    let path = folder.file("shared/log")
    #expect(link(folder.file("profile"), path) == 0)
    for access in [FolderPath.Access.appending, .updating] {
      let failure = #expect(throws: FolderPath.Failure.self) {
        try FolderPath.file(Array(path.utf8), for: access, creationMode: 0o600)
      }
      #expect(failure?.reason.contains("several hard links") == true)
    }
    close(try FolderPath.file(Array(path.utf8), for: .reading))
    // Elsewhere, only this user can have created the name.
    #expect(chmod(folder.file("shared"), 0o755) == 0)
    close(try FolderPath.file(Array(path.utf8), for: .appending))
  }

  /// The folder's owner controls everything below it, so only the owner's files are sent, as `root` specifies.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func noLinkIsFollowedBelowAFolderOfAnotherUser() throws {
    makeFolder("shared", mode: 0o1777)
    makeFolder("private")
    makeFolder("shared/theirs")
    makeFolder("shared/theirs/inner")
    #expect(symlink("../../private", folder.file("shared/theirs/link")) == 0)
    #expect(symlink("../../../private", folder.file("shared/theirs/inner/link")) == 0)
    for name in ["shared/theirs", "shared/theirs/link", "shared/theirs/inner", "shared/theirs/inner/link"] {
      #expect(lchown(folder.file(name), 65534, 65534) == 0)
    }
    for path in ["shared/theirs/link", "shared/theirs/inner/link"] {
      #expect(refusal(folder.file(path), .foreignFolders)?.contains("symbolic link of user 65534") == true)
    }
    #expect(refusal(folder.file("shared/theirs/inner"), .foreignFolders) == nil)
  }

  @Test func missingFoldersAreCreated() throws {
    let path = folder.file("a/./b//c/")
    let descriptor = try FolderPath.descriptor(of: Array(path.utf8), trusting: .ownEntries, creating: true)
    defer { close(descriptor) }
    #expect(try opened(path) == inode(path))
    folder.write("file", [1])
    #expect(throws: FolderPath.Failure.self) {
      _ = try FolderPath.descriptor(
        of: Array(folder.file("file/x").utf8), trusting: .ownEntries, creating: true)
    }
  }

  /// Another user repeatedly exchanges a folder and a link. ferry never opens the link's target.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aLinkThatIsExchangedMeanwhileIsNotFollowed() throws {
    makeFolder("shared", mode: 0o1777)
    makeFolder("private")
    makeFolder("shared/folder")
    #expect(symlink("../private", folder.file("shared/link")) == 0)
    for name in ["shared/folder", "shared/link"] { #expect(lchown(folder.file(name), 65534, 65534) == 0) }
    let path = folder.path
    let hidden = try inode(folder.file("private"))
    let exchange = Exchange()
    // The exchange has a dedicated thread, because parallel tests may occupy the whole pool.
    Thread.detachNewThread {
      while exchange.goesOn {
        // rename(2) can replace neither a folder by a link nor a link by a folder.
        rename(path + "/shared/folder", path + "/shared/kept")
        rename(path + "/shared/link", path + "/shared/folder")
        rename(path + "/shared/folder", path + "/shared/link")
        rename(path + "/shared/kept", path + "/shared/folder")
      }
    }
    defer { exchange.end() }
    var links = 0
    let limit = ContinuousClock.now + .seconds(30)
    while links < 1000, ContinuousClock.now < limit {
      do throws(FolderPath.Failure) {
        let found = try opened(folder.file("shared/folder"), .foreignFolders)
        #expect(found != hidden)
      } catch {
        if case .foreign(_, _, true) = error { links += 1 }
      }
    }
    #expect(links == 1000)
  }

  private final class Exchange: Sendable {
    private let isOver = Atomic(false)
    var goesOn: Bool { !isOver.load(ordering: .relaxed) }
    func end() { isOver.store(true, ordering: .relaxed) }
  }

  /// `..` is safe, because nobody can replace it with another entry.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func theParentOfAWorldWritableFolderIsNotOneOfItsEntries() throws {
    makeFolder("out", mode: 0o777)
    #expect(chown(folder.file("out"), 65534, 65534) == 0)
    folder.write("file", Array("text".utf8))
    let descriptor = try FolderPath.file(Array(folder.file("out/../file").utf8), for: .reading)
    close(descriptor)
    #expect(refusal(folder.file("out/..")) == nil)
  }

  #if os(Linux)
  @Test func aFolderLinkInProcLeadsToTheOpenFolder() throws {
    makeFolder("gone")
    let opened = open(folder.file("gone"), O_RDONLY)
    defer { close(opened) }
    #expect(rmdir(folder.file("gone")) == 0)
    var (own, found) = (stat(), stat())
    let descriptor = try FolderPath.descriptor(
      of: Array("/proc/self/fd/\(opened)".utf8), trusting: .ownEntries)
    defer { close(descriptor) }
    #expect(fstat(opened, &own) == 0 && fstat(descriptor, &found) == 0 && own.st_ino == found.st_ino)
  }
  #endif
}

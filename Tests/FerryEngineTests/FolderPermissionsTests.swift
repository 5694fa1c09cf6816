import CFiles
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

  private func open(_ path: String) throws(OpenFolders.Failure) -> OpenFolders.Source {
    folders.source(Array(path.utf8), try folders.descriptor(Array(path.utf8)))
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

  @Test(.enabled("only root may choose any group", { geteuid() == 0 }))
  func giveNobodyMoreRightsIfTheGroupDiffers() throws {
    // The group of the old folder is among the other users of the new one.
    for (name, mode, new) in [("a", 0o705, 0o700), ("b", 0o775, 0o755), ("c", 0o755, 0o755)] {
      make(name, mode_t(mode), group: 65534)
      #expect(try self.mode("sent/\(name)", from: open(name)) == mode_t(new))
    }
  }

  /// Otherwise no file could be moved to them.
  @Test func includeAllRightsOfTheOwner() throws {
    make("a", 0o555)
    #expect(try mode("sent/a", from: open("a")) == 0o755)
  }

  /// The folder of `move_to` has no counterpart but the root.
  @Test(arguments: [
    (0o3770, 0o750), (0o2750, 0o750), (0o2770, 0o770), (0o1777, 0o755), (0o777, 0o777), (0o1733, 0o711),
  ])
  func areAtMostThoseOfTheRootWithoutACounterpart(root: mode_t, top: mode_t) throws {
    make("a", 0o755)
    #expect(chmod(folder.path, root) == 0)
    let source = try open("a")
    let descriptor = try folders.descriptor([])
    let permissions = FolderPermissions(of: source, below: descriptor)
    // The umask applies in addition.
    for depth in [0, -1] { #expect(permissions.rights(atDepth: depth, in: descriptor).mode == top) }
  }

  /// Another user can create `a` first, which is then moved to the new folder `sent/a`, and remove it again.
  @Test(arguments: [0o1777, 0o775])
  func ofAnExistingFolderMustNotExceedThoseOfItsCounterpartInASharedRoot(shared: mode_t) throws {
    make("a", 0o755)
    make("a/b", 0o700)
    make("sent", 0o755)
    make("sent/a", 0o755)
    make("sent/a/b", 0o755)
    #expect(chmod(folder.path, 0o755) == 0)
    #expect(try mode("sent/a/b", from: open("a/b")) == 0o755)
    #expect(chmod(folder.path, shared) == 0)
    for (source, isMoved) in [(0o700, false), (0o710, false), (0o755, true), (0o775, true)] {
      #expect(chmod("\(folder.path)/a/b", mode_t(source)) == 0)
      _ = folders.sync()
      let result = Result { () throws(OpenFolders.Failure) in
        try folders.targetDescriptor(Array("sent/a/b".utf8), from: try open("a/b"))
      }
      switch result {
      case .success: #expect(isMoved)
      case .failure(.exposed): #expect(!isMoved)
      case .failure(let failure): Issue.record(failure)
      }
    }
  }

  /// A file can be deleted by everybody who may write to its folder.
  @Test func ofAnExistingFolderMustNotIncludeMoreRightsToWrite() throws {
    make("a", 0o755)
    make("sent", 0o755)
    make("sent/a", 0o775)
    #expect(chmod(folder.path, 0o1775) == 0)
    #expect(isExposed("sent/a", from: try open("a")))
    #expect(chmod("\(folder.path)/a", 0o775) == 0)
    _ = folders.sync()
    #expect(!isExposed("sent/a", from: try open("a")))
  }

  /// Another user who owns a folder above that of the file can prevent ferry from finding the root.
  @Test func ofAnExistingFolderMustBeThoseOfTheUserIfTheRootIsNotFound() throws {
    for name in ["a", "a/b", "sent", "sent/a", "sent/a/b"] { make(name, 0o755) }
    let (source, elsewhere) = (try open("a/b"), try TestFolder())
    #expect(rename("\(folder.path)/a/b", "\(elsewhere.path)/b") == 0)
    #expect(isExposed("sent/a/b", from: source))
    for name in ["sent/a", "sent/a/b"] { #expect(chmod("\(folder.path)/\(name)", 0o700) == 0) }
    #expect(!isExposed("sent/a/b", from: source))
  }

  @Test(.enabled("only root may give a folder to another user", { geteuid() == 0 }))
  func ofAnExistingFolderMustNotExceedThoseOfItsCounterpartInAFolderOfAnotherUser() throws {
    for (name, mode) in [
      ("a", 0o755), ("a/b", 0o700), ("sent", 0o755), ("sent/a", 0o755), ("sent/a/b", 0o755),
    ] {
      make(name, mode_t(mode))
    }
    #expect(!isExposed("sent/a/b", from: try open("a/b")))
    #expect(chown("\(folder.path)/a", 65534, getegid()) == 0)
    _ = folders.sync()
    #expect(isExposed("sent/a/b", from: try open("a/b")))
  }

  /// The shared folder above the target of a link is not part of the path.
  @Test func ofAnExistingFolderAreComparedIfTheTargetOfALinkIsInASharedFolder() throws {
    make("shared", 0o777)
    make("shared/job", 0o700)
    #expect(symlink("shared/job", "\(folder.path)/current") == 0)
    make("sent", 0o755)
    make("sent/current", 0o755)
    #expect(isExposed("sent/current", from: try open("current")))
  }

  /// The link is in a shared folder, its target is not.
  @Test func ofAnExistingFolderAreComparedIfThePathPassesALink() throws {
    for (name, mode) in [("shared", 0o777), ("private", 0o700), ("sent", 0o755), ("sent/shared", 0o755)] {
      make(name, mode_t(mode))
    }
    make("sent/shared/job", 0o755)
    #expect(symlink("../private", "\(folder.path)/shared/job") == 0)
    #expect(isExposed("sent/shared/job", from: try open("shared/job")))
  }

  /// A missing file is looked up in the folder first. Its permissions have not been compared then.
  @Test func ofAnExistingFolderAreComparedAfterAFileWasLookedUpInIt() throws {
    for (name, mode) in [("a", 0o700), ("sent", 0o755), ("sent/a", 0o755)] { make(name, mode_t(mode)) }
    #expect(chmod(folder.path, 0o1777) == 0)
    try folders.withTarget(Array("sent/a".utf8)) { #expect($0 >= 0) }
    #expect(isExposed("sent/a", from: try open("a")))
  }

  @Test(.enabled("only root may give a folder to another user", { geteuid() == 0 }))
  func ofAnExistingFolderAreExceededIfItBelongsToAThirdUser() throws {
    for name in ["a", "sent", "sent/a"] { make(name, 0o700) }
    for name in ["", "sent/a"] { #expect(chown("\(folder.path)/\(name)", 65534, getegid()) == 0) }
    #expect(isExposed("sent/a", from: try open("a")))
    #expect(chown("\(folder.path)/a", 65534, getegid()) == 0)
    _ = folders.sync()
    #expect(!isExposed("sent/a", from: try open("a")))
  }

  /// Whether no file is moved to a folder because it gives more users access.
  private func isExposed(_ path: String, from source: OpenFolders.Source) -> Bool {
    do throws(OpenFolders.Failure) {
      _ = try folders.targetDescriptor(Array(path.utf8), from: source)
      return false
    } catch {
      if case .exposed = error { return true }
      Issue.record(error)
      return false
    }
  }

  /// A link leads to a folder with fewer folders above it, so that `sent/x` has no counterpart.
  @Test(arguments: [(0o775, 0o755, false), (0o775, 0o775, true), (0o755, 0o775, false)])
  func ofAnExistingFolderMustNotExceedThoseOfTheFolderThatThePathNames(
    _ rootMode: Int, _ targetMode: Int, isExposed: Bool
  ) throws {
    make("a", 0o755)
    make("x", 0o755)
    folder.link("x/y", to: "../a")
    make("sent", 0o755)
    make("sent/x", mode_t(targetMode))
    #expect(chmod(folder.path, mode_t(rootMode)) == 0)
    #expect(self.isExposed("sent/x/y", from: try open("x/y")) == isExposed)
    #expect(isExposed || mode("sent/x/y") == 0o755)
  }

  @Test func ofAnExistingFolderAreThoseOfItsOwnerIfALinkLeadsToTheRoot() throws {
    folder.link("x", to: ".")
    make("sent", 0o755)
    make("sent/x", 0o755)
    #expect(chmod(folder.path, 0o775) == 0)
    #expect(isExposed("sent/x", from: try open("x")))
    #expect(chmod("\(folder.path)/sent/x", 0o700) == 0)
    _ = folders.sync()
    #expect(!isExposed("sent/x", from: try open("x")))
  }

  #if os(Linux)
  private struct ACLEntry {
    var tag: UInt16
    var permissions: UInt16
    var id = UInt32.max
  }

  /// An ACL in the format of linux/posix_acl_xattr.h.
  private func acl(_ entries: [ACLEntry]) -> [UInt8] {
    var bytes: [UInt8] = [2, 0, 0, 0]
    for entry in entries {
      withUnsafeBytes(of: entry.tag.littleEndian) { bytes += $0 }
      withUnsafeBytes(of: entry.permissions.littleEndian) { bytes += $0 }
      withUnsafeBytes(of: entry.id.littleEndian) { bytes += $0 }
    }
    return bytes
  }

  /// The ACL `u::rwx,u:USER:…,g::…,m::…,o::…`.
  private func acl(user: UInt16, group: UInt16, mask: UInt16, other: UInt16) -> [UInt8] {
    acl([
      ACLEntry(tag: 1, permissions: 7), ACLEntry(tag: 2, permissions: user, id: 3000),
      ACLEntry(tag: 4, permissions: group), ACLEntry(tag: 16, permissions: mask),
      ACLEntry(tag: 32, permissions: other),
    ])
  }

  /// Returns `false` if the file system has no ACLs.
  private func set(_ acl: [UInt8], _ name: String, of path: String = "") throws -> Bool {
    if setxattr("\(folder.path)/\(path)", name, acl, acl.count, 0) == 0 { return true }
    try #require(errno == EOPNOTSUPP)
    return false
  }

  private func acl(of path: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = getxattr("\(folder.path)/\(path)", access, &bytes, bytes.count)
    return Array(bytes[..<max(count, 0)])
  }

  private let access = "system.posix_acl_access"
  private let inherited = "system.posix_acl_default"

  /// The group bits of a folder with an ACL show its mask. An ACL can also deny access to a user whom the mode allows it.
  @Test func includeTheACL() throws {
    make("a", 0o700)
    make("b", 0o700)
    let (allowed, denied) = (
      acl(user: 5, group: 0, mask: 5, other: 0), acl(user: 0, group: 5, mask: 5, other: 5)
    )
    guard try set(allowed, access, of: "a"), try set(denied, access, of: "b") else { return }
    #expect(mode("a") == 0o750)
    #expect(try mode("sent/a", from: open("a")) == 0o750)
    #expect(try mode("sent/b", from: open("b")) == 0o755)
    #expect(acl(of: "sent/a") == allowed && acl(of: "sent/b") == denied)
    #expect(mode("sent") == 0o755 && acl(of: "sent") == [])
  }

  @Test func areOnlyThoseOfTheUserIfTheACLAppliesToAnotherGroupOrAPartOfThePath() throws {
    make("a", 0o700, group: geteuid() == 0 ? 65534 : getegid())
    make("a/b", 0o755)
    let set = try set(acl(user: 5, group: 5, mask: 5, other: 5), access, of: "a")
    guard set else { return }
    #expect(symlink("a/b", "\(folder.path)/link") == 0)
    #expect(try mode("sent/link", from: open("link")) == 0o700)
    guard geteuid() == 0 else { return }
    #expect(try mode("sent/a", from: open("a")) == 0o700)
    #expect(acl(of: "sent/a") == [])
  }

  /// Removing the right to write from a mode changes the mask of the ACL.
  @Test func ofAnExistingFolderDoNotExceedAnACLWithAMaskThatAllowsMore() throws {
    make("a", 0o700)
    #expect(chmod(folder.path, 0o1777) == 0)
    guard try set(acl(user: 7, group: 5, mask: 7, other: 5), access, of: "a") else { return }
    #expect(chmod("\(folder.path)/a", 0o1775) == 0)
    #expect(try mode("sent/a", from: open("a")) == 0o755)
    _ = folders.sync()
    #expect(!isExposed("sent/a", from: try open("a")))
    #expect(chmod("\(folder.path)/sent/a", 0o775) == 0)
    _ = folders.sync()
    #expect(isExposed("sent/a", from: try open("a")))
  }

  @Test func doNotIncludeADefaultACL() throws {
    make("a", 0o750)
    guard try set(acl(user: 7, group: 5, mask: 7, other: 5), inherited) else { return }
    #expect(try mode("sent/a", from: open("a")) == 0o750)
    #expect(acl(of: "sent/a") == [] && acl(of: "sent") == [])
    #expect(mode("sent") == 0o755)
  }

  @Test func includeTheACLOfTheRootWithoutTheRightToWriteIfItIsSticky() throws {
    make("a", 0o755)
    let shared = acl(user: 7, group: 5, mask: 7, other: 5)
    guard try set(shared, access) else { return }
    #expect(try mode("sent/a", from: open("a")) == 0o755)
    #expect(mode("sent") == 0o775 && acl(of: "sent") == shared)
    #expect(chmod(folder.path, 0o1775) == 0)
    #expect(try mode("other/a", from: open("a")) == 0o755)
    #expect(mode("other") == 0o755 && acl(of: "other") == acl(user: 7, group: 5, mask: 5, other: 5))
  }
  #endif
}

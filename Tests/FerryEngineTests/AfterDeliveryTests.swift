import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import FerryTransfer
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

struct AfterDeliveryTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// A delivered file in its current state, even if it no longer exists.
  private func delivered(_ name: String) -> DeliveredFile {
    var (status, entry) = (stat(), stat())
    let isThere =
      stat("\(folder.path)/\(name)", &status) == 0 && lstat("\(folder.path)/\(name)", &entry) == 0
    return DeliveredFile(
      row: 1, path: Array(name.utf8), size: 1, modified: isThere ? status.modifiedNanoseconds : 0,
      inode: isThere ? entry.entryInode(beneath: nil) : 1)
  }

  private func delivery(_ after: Upload.After = .delete) throws -> AfterDelivery {
    try #require(AfterDelivery(after, of: lister()))
  }

  private func lister(_ root: String = ".") throws -> FileLister {
    try FileLister(
      FileSelection(root: root, source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
  }

  /// Two new file systems assign the same inode numbers, so an inode number alone does not identify a file.
  @Test func aFileOnAnotherFileSystemThanTheSentOneStays() throws {
    folder.file("a")
    var file = delivered("a")
    var status = stat()
    #expect(stat(folder.path, &status) == 0)
    file.root = FolderIdentity(device: UInt64(status.st_dev) + 1, inode: UInt64(status.st_ino))
    #expect(try delivery().carryOut(file).state == .changed)
    file.root?.device -= 1
    #expect(try delivery().carryOut(file).state == .deleted)
  }

  /// A worker that has new delivered files to delete, and begins with them 50 ms later.
  private func worker(of names: [String], _ writes: RecordedWrites) throws -> PostDeliveryWorker {
    for name in names { folder.file(name) }
    let blocker = DispatchSemaphore(value: 0)
    let thread = try SerialWorker("after")
    thread.submit { blocker.wait() }
    let worker = PostDeliveryWorker(
      [0: .init(delivery: try delivery(), journal: 0)], on: thread, writer: writes, metrics: [:])
    worker.take(names.map { (0, delivered($0)) })
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { blocker.signal() }
    return worker
  }

  @Test func aStoppedRunLeavesTheRest() throws {
    let writes = RecordedWrites(Mailbox<RunMessage> {})
    let worker = try worker(of: ["a", "b"], writes)
    let metrics = worker.finish(within: .zero)
    #expect(metrics[0]?.remaining == 2 && metrics[0]?.owes == true && writes.writes.isEmpty)
    #expect(access(folder.path + "/a", F_OK) == 0)
  }

  /// The run is stopped after its last request, while it waits for the worker.
  @Test func aRunStoppedAtItsEndLeavesTheRest() throws {
    let worker = try worker(of: ["a", "b", "c"], RecordedWrites(Mailbox<RunMessage> {}))
    let asked = Mutex(0)
    let metrics = worker.finish {
      asked.withLock { count in
        count += 1
        return count == 1 ? nil : .zero
      }
    }
    #expect(metrics[0]?.deleted == 1 && metrics[0]?.remaining == 2)
    #expect(access(folder.path + "/a", F_OK) != 0 && access(folder.path + "/b", F_OK) == 0)
  }

  @Test func keepDoesNothing() throws {
    #expect(AfterDelivery(.keep, of: try lister()) == nil)
  }

  /// The owner of the other folder could read and delete the file there. In the root, the sticky bit prevents the latter.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }), arguments: ["sent", "sent/by"],
    [0o1777, 0o2775])
  func nothingIsMovedToAnotherUsersFolder(target: String, rootMode: Int) throws {
    folder.file("a")
    let file = delivered("a")
    #expect(mkdir("\(folder.path)/sent", 0o777) == 0)
    #expect(chown("\(folder.path)/sent", 65534, 65534) == 0)
    #expect(chmod(folder.path, mode_t(rootMode)) == 0)
    let result = try delivery(.moveTo(target)).carryOut(file)
    #expect(result.state == .owed && result.problem?.code == "after_folder")
    #expect(result.problem?.message.contains("user 65534") == true)
    #expect(access("\(folder.path)/a", F_OK) == 0)
    #expect(chown("\(folder.path)/sent", 0, 0) == 0)
    if target == "sent" { #expect(try delivery(.moveTo(target)).carryOut(file).state == .moved) }
  }

  /// The administrator has prepared the folder.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aFolderThatItsOwnerCannotHaveCreatedIsUsed() throws {
    folder.file("a")
    let file = delivered("a")
    #expect(mkdir("\(folder.path)/sent", 0o777) == 0 && chown("\(folder.path)/sent", 65534, 65534) == 0)
    #expect(chmod(folder.path, 0o755) == 0)
    #expect(try delivery(.moveTo("sent")).carryOut(file).state == .moved)
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func nothingIsMovedToAnotherUsersFolderBelowASharedOne() throws {
    folder.file("a")
    let file = delivered("a")
    for name in ["pub", "pub/sent"] { #expect(mkdir("\(folder.path)/\(name)", 0o777) == 0) }
    #expect(chmod("\(folder.path)/pub", 0o1777) == 0)
    #expect(chown("\(folder.path)/pub/sent", 65534, 65534) == 0)
    let result = try delivery(.moveTo("pub/sent")).carryOut(file)
    #expect(result.state == .owed && result.problem?.code == "after_folder")
    #expect(access("\(folder.path)/a", F_OK) == 0)
  }

  /// After the listing, another user replaces a folder by a link, so that the path leads to another name of the file.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: [
      Upload.After.delete, .moveTo("moved"),
    ]) func aFileBehindTheLinkOfAnotherUserRemainsInPlace(after: Upload.After) throws
  {
    folder.file("sub/a")
    let file = delivered("sub/a")
    for (old, new) in [("sub", "release")] {
      #expect(rename("\(folder.path)/\(old)", "\(folder.path)/\(new)") == 0)
    }
    #expect(symlink("release", "\(folder.path)/sub") == 0)
    #expect(lchown("\(folder.path)/sub", 65534, 65534) == 0)
    let refused = try delivery(after).carryOut(file)
    #expect(
      refused.state == .owed && refused.problem?.message.contains("symbolic link of user 65534") == true)
    #expect(access("\(folder.path)/release/a", F_OK) == 0)
    // This user's link is followed, also if its target is absolute and in the root.
    #expect(unlink("\(folder.path)/sub") == 0)
    #expect(symlink("\(folder.path)/release", "\(folder.path)/sub") == 0)
    #expect([.deleted, .moved].contains(try delivery(after).carryOut(file).state))
  }

  /// The target of a delivered link must never be deleted or moved, even if another user gives it the name of the link.
  @Test(arguments: [Upload.After.delete, .moveTo("moved")])
  func onlyADeliveredLinkItselfIsRemoved(after: Upload.After) throws {
    folder.file("a")
    #expect(symlink("a", "\(folder.path)/link") == 0)
    let file = delivered("link")
    #expect(unlink("\(folder.path)/link") == 0)
    #expect(link("\(folder.path)/a", "\(folder.path)/link") == 0)
    #expect(try delivery(after).carryOut(file).state == .changed)
    #expect(access("\(folder.path)/link", F_OK) == 0)
    #expect(unlink("\(folder.path)/link") == 0)
    // The system may give the inode number of the link to another file.
    var reused = file
    folder.file("link")
    var status = stat()
    #expect(lstat("\(folder.path)/link", &status) == 0)
    (reused.inode, reused.modified) = (~UInt64(status.st_ino), status.modifiedNanoseconds)
    #expect(try delivery(after).carryOut(reused).state == .changed)
    #expect(unlink("\(folder.path)/link") == 0)
    #expect(symlink("a", "\(folder.path)/link") == 0)
    #expect([.deleted, .moved].contains(try delivery(after).carryOut(delivered("link")).state))
    #expect(access("\(folder.path)/a", F_OK) == 0)
    #expect(lstat("\(folder.path)/link", &status) != 0)
  }

  /// The folder of the file was moved to `sent` and replaced by a link.
  @Test func aFileThatIsInTheTargetFolderAlreadyIsNotRemoved() throws {
    folder.file("d/a")
    let file = delivered("d/a")
    #expect(mkdir("\(folder.path)/sent", 0o700) == 0)
    #expect(rename("\(folder.path)/d", "\(folder.path)/sent/d") == 0)
    #expect(symlink("sent/d", "\(folder.path)/d") == 0)
    let result = try delivery(.moveTo("sent")).carryOut(file)
    #expect(result.state == .owed && result.problem?.code == "after_exists")
    #expect(access("\(folder.path)/sent/d/a", F_OK) == 0)
  }

  /// The link may lead to a file system that does not respond. If it were followed, its target would be found missing.
  @Test func aLinkInThePlaceOfAFileIsNotFollowed() throws {
    folder.file("a")
    let file = delivered("a")
    #expect(unlink("\(folder.path)/a") == 0 && symlink("missing", "\(folder.path)/a") == 0)
    for inode in [file.inode, nil] {
      var file = file
      file.inode = inode
      let result = try delivery().carryOut(file)
      #expect(result.problem?.code == (inode == nil ? "after_unknown" : "after_changed"))
      #expect(result.problem?.message.contains("the target of this link") == false)
    }
  }

  /// Another user has replaced the folder that contains the target.
  @Test(arguments: [Upload.After.delete, .moveTo("moved")])
  func aLinkThatLeadsOutOfTheRootByNowRemainsInPlace(after: Upload.After) throws {
    folder.file("root/d/a")
    folder.file("outside/other")
    #expect(link("\(folder.path)/root/d/a", "\(folder.path)/outside/a") == 0)
    #expect(symlink("d/a", "\(folder.path)/root/link") == 0)
    var file = delivered("root/link")
    file.path = Array("link".utf8)
    let delivery = try #require(AfterDelivery(after, of: lister("root")))
    #expect(rename("\(folder.path)/root/d", "\(folder.path)/root/e") == 0)
    #expect(symlink("../outside", "\(folder.path)/root/d") == 0)
    #expect(delivery.carryOut(file).state == .changed)
    // Links in the root are followed.
    #expect(unlink("\(folder.path)/root/d") == 0 && symlink("e", "\(folder.path)/root/d") == 0)
    #expect([.deleted, .moved].contains(delivery.carryOut(file).state))
  }

  /// Another item may be the link's target.
  @Test func aLinkWhoseTargetIsGoneRemainsInPlace() throws {
    folder.file("a")
    #expect(symlink("a", "\(folder.path)/link") == 0)
    let file = delivered("link")
    unlink("\(folder.path)/a")
    let result = try delivery(.delete).carryOut(file)
    #expect(result.state == .changed && result.problem?.message.contains("the target of this link") == true)
  }

  /// The folder's owner repeatedly renames the folder to the name `sent` and back, so that opening it sometimes fails.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func nothingIsMovedToAnotherUsersFolderThatIsExchanged() throws {
    folder.file("a")
    let file = delivered("a")
    #expect(mkdir("\(folder.path)/theirs", 0o777) == 0)
    #expect(mkdir("\(folder.path)/theirs/in", 0o777) == 0)
    for name in ["theirs", "theirs/in"] { #expect(chown("\(folder.path)/\(name)", 65534, 65534) == 0) }
    #expect(chmod(folder.path, 0o1777) == 0)
    let path = folder.path
    let isOver = Atomic(false)
    let exchanging = Thread {
      while !isOver.load(ordering: .relaxed) {
        rename(path + "/theirs", path + "/sent")
        rename(path + "/sent", path + "/theirs")
      }
    }
    exchanging.start()
    defer { isOver.store(true, ordering: .relaxed) }
    for _ in 0..<300 {
      let state = try delivery(.moveTo("sent/in")).carryOut(file).state
      // If no folder has this name at the moment, ferry creates and owns one.
      guard state == .moved else { continue }
      #expect(access("\(path)/theirs/in/a", F_OK) != 0 && access("\(path)/sent/in/a", F_OK) == 0)
      break
    }
  }

  /// Another user who may write to the parent folder replaces the root with a link to another folder.
  @Test(arguments: [Upload.After.delete, .moveTo("sent")])
  func aFolderThatTakesTheNameOfTheListedRootKeepsItsFiles(after: Upload.After) throws {
    folder.file("root/a")
    folder.file("private/b")
    // The file in the other folder has the same inode, size and time.
    #expect(link("\(folder.path)/root/a", "\(folder.path)/private/a") == 0)
    let file = delivered("root/a")
    let lister = try lister("root")
    _ = try lister.folder()
    #expect(rename("\(folder.path)/root", "\(folder.path)/moved") == 0)
    #expect(symlink("private", "\(folder.path)/root") == 0)
    let delivery = try #require(AfterDelivery(after, of: lister))
    var inRoot = file
    inRoot.path = Array("a".utf8)
    #expect([.deleted, .moved].contains(delivery.carryOut(inRoot).state))
    #expect(access("\(folder.path)/private/a", F_OK) == 0)
    #expect(access("\(folder.path)/moved/a", F_OK) != 0)
  }

  @Test(arguments: [Upload.After.delete, .moveTo("sent")])
  func aMissingFileInAnEmptyRootIsNotAssumedToBeGone(after: Upload.After) throws {
    let delivery = try delivery(after)
    let result = delivery.carryOut(delivered("a"))
    #expect(result.state == .owed && result.problem?.code == "after_missing")
    folder.file("another")
    #expect(delivery.carryOut(delivered("a")).state == .gone)
  }

  @Test func aRootWhoseLastFileWasDeletedIsNoMountPoint() throws {
    folder.file("a")
    let delivery = try delivery()
    #expect(delivery.carryOut(delivered("a")).state == .deleted)
    let result = delivery.carryOut(delivered("b"))
    #expect(result.state == .gone && result.problem == nil)
  }

  @Test(arguments: [Upload.After.delete, .moveTo("sent")])
  func theRootThatTheFileWasSentFromMayBeEmpty(after: Upload.After) throws {
    let delivery = try delivery(after)
    var file = delivered("a")
    file.root = delivery.root
    let result = delivery.carryOut(file)
    #expect(result.state == .gone)
    #expect(result.problem?.code == (after == .delete ? nil : "after_missing"))
    for change in [\FolderIdentity.device, \.inode] {
      file.root = delivery.root
      file.root?[keyPath: change] += 1
      #expect(delivery.carryOut(file).state == .owed)
    }
  }

  @Test func anUnknownFileIsNotWaitedFor() throws {
    var file = delivered("a")
    file.inode = nil
    #expect(try delivery().carryOut(file).state == .gone)
  }

  @Test(arguments: [Upload.After.delete, .moveTo("sent")])
  func aFileWhoseFolderIsAFileByNowIsGone(after: Upload.After) throws {
    folder.file("sub")
    let result = try delivery(after).carryOut(delivered("sub/a"))
    #expect(result.state == .gone)
    #expect(result.problem?.code == (after == .delete ? nil : "after_missing"))
  }
}

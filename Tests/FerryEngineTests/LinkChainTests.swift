import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation
import Testing

@testable import FerryEngine

/// Links that lead through as many folders as Linux allows. Any user who may write to one folder of the root can create them.
struct LinkChainTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func list(_ source: FileSelection.Source, input: String = "") throws -> Listing {
    try FileLister(FileSelection(root: "root", source: source), baseFolder: folder.path, home: nil)
      .list { Array(input.utf8) }
  }

  private func paths(_ listing: Listing) -> [String] {
    (0..<listing.files.count).map { String(decoding: listing.files.path($0), as: UTF8.self) }
  }

  /// Creates a chain of 39 links that begins with `k1`. Each of them leads to the next one, and then leaves the folder and
  /// returns to it as often as the text of a link can express.
  private func makeChain(in folderName: String) {
    let turn = "../\(folderName)/"
    func turns(after start: String) -> String {
      start + String(repeating: turn, count: (4090 - start.utf8.count) / turn.utf8.count)
    }
    for number in 1..<39 { folder.link("\(folderName)/k\(number)", to: turns(after: "k\(number + 1)/")) }
    folder.link("\(folderName)/k39", to: turns(after: ""))
  }

  @Test func aChainThatLeavesTheRootAndReturnsIsBoundedWorkAndAProblem() throws {
    folder.file("root/honest")
    folder.link("root/dangling", to: "nowhere")
    makeChain(in: "root")
    var (listing, named) = (Listing(), Listing())
    let time = try ThreadTime.measure {
      listing = try list(.globs(include: ["k1", "honest", "dangling"], exclude: []))
      named = try list(.list("-", nullSeparated: false), input: "honest\nk1\nk1/honest\n")
    }
    #expect(time < .milliseconds(500), "\(time)")
    #expect(paths(listing) == ["honest"] && paths(named) == ["honest"])
    #expect(listing.problems.map(\.path) == [Array("k1".utf8)] && listing.problems.failures == 1)
    #expect(named.problems.map(\.path) == ["k1", "k1/honest"].map { Array($0.utf8) })
    for problem in listing.problems + Array(named.problems) {
      #expect(problem.kind == .other && problem.message.contains("too many folders and links"))
    }
  }

  /// Each of the links leads through 4,091 names.
  @Test func manyLinksThroughManyFoldersDoNotPreventOthersFromBeingFollowed() throws {
    folder.file("root/d/x")
    folder.file("root/file")
    folder.link("root/k2", to: String(repeating: "d/../", count: 815) + "file")
    folder.link("root/k1", to: String(repeating: "d/../", count: 815) + "k2")
    folder.link("root/l", to: String(repeating: "d/../", count: 414) + "k1")
    let count = 1000
    for number in 0..<count {
      #expect(linkat(AT_FDCWD, "\(folder.path)/root/l", AT_FDCWD, "\(folder.path)/root/l\(number)", 0) == 0)
    }
    folder.link("root/y", to: "d/../d/../file")
    let names = (0..<count).map { "l\($0)\n" }.joined() + "y\nfile\n"
    for listing in [
      try list(.globs(include: ["l?*", "y", "file"], exclude: [])),
      try list(.list("-", nullSeparated: false), input: names),
    ] {
      let listed = paths(listing)
      #expect(listed.contains("file") && listed.contains("y"))
      let followed = listed.count - 2
      #expect(followed > 0 && followed < 300)
      #expect(listing.problems.failures == count - followed)
    }
  }

  /// Each `..` of a list needs a look at all folders before it.
  @Test func aListWithManyParentFoldersIsBoundedWorkAndAProblem() throws {
    let deep = String(repeating: "d/", count: 200)
    folder.file("root/\(deep)b/file")
    folder.file("root/\(deep)c/file")
    folder.file("root/file")
    let long = deep + String(repeating: "b/../c/../", count: 180)
    let lines = (0..<400).map { "\(long)x\($0)\n" } + ["\(deep)b/../c/file\n", "d/../file\n"]
    var listing = Listing()
    let time = try ThreadTime.measure {
      listing = try list(.list("-", nullSeparated: false), input: lines.joined())
    }
    #expect(time < .seconds(30), "\(time)")
    #expect(paths(listing).contains("file"))
    #expect(listing.problems.failures >= 400)
    #expect(listing.problems.first?.message.contains("too many folders and links") == true)
  }

  /// Otherwise, the chain would be followed for each pending file in the folder.
  @Test func aFolderThatCannotBeOpenedIsLookedUpOnceInABatch() throws {
    folder.file("root/a/f")
    var (status, entry) = (stat(), stat())
    #expect(stat("\(folder.path)/root/a/f", &status) == 0 && lstat("\(folder.path)/root/a/f", &entry) == 0)
    let file = DeliveredFile(
      row: 1, path: Array("a/f".utf8), size: 1, modified: status.modifiedNanoseconds,
      inode: entry.entryInode(beneath: nil))
    let (path, other) = ("\(folder.path)/root/a", "\(folder.path)/root/other")
    #expect(rename(path, other) == 0)
    makeChain(in: "root")
    folder.link("root/a", to: "k1")
    let lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    let delivery = try #require(AfterDelivery(.delete, of: lister))
    var result = AfterResult.deleted
    let time = ThreadTime.measure { result = delivery.carryOut(file) }
    #expect(time < .milliseconds(500), "\(time)")
    #expect(result.state == .owed && result.problem?.code == "after_folder")
    #expect(unlink(path) == 0 && rename(other, path) == 0)
    #expect(delivery.carryOut(file).state == .owed)
    #expect(delivery.sync())
    #expect(delivery.carryOut(file).state == .deleted)
  }
}

import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

struct FileListerTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func list(_ source: FileSelection.Source, root: String = "root", input: String = "") throws
    -> Listing
  {
    try FileLister(FileSelection(root: root, source: source), baseFolder: folder.path, home: folder.path)
      .list { Array(input.utf8) }
  }

  private func globs(_ include: [String], exclude: [String] = []) throws -> [String] {
    paths(try list(.globs(include: include, exclude: exclude)))
  }

  private func paths(_ listing: Listing) -> [String] {
    (0..<listing.files.count).map { String(decoding: listing.files.path($0), as: UTF8.self) }
  }

  @Test func theStateFolderIsNeverListed() throws {
    for name in ["root/a", "root/.ferry/sessions/s.db", "root/.ferry/ferry.db", "root/z"] {
      folder.file(name)
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/root/link.db", withDestinationPath: ".ferry/ferry.db")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/root/state", withDestinationPath: ".ferry")
    let list = "a\n.ferry/ferry.db\nstate/ferry.db\nlink.db\nz\n./.ferry//sessions/s.db\n"
    for source in [
      FileSelection.Source.globs(include: ["**"], exclude: []), .list("-", nullSeparated: false),
    ] {
      var lister = try FileLister(
        FileSelection(root: "root", source: source), baseFolder: folder.path, home: folder.path)
      let all = try lister.list { Array(list.utf8) }
      #expect(paths(all).contains(".ferry/ferry.db") && paths(all).contains("link.db"))
      lister.stateFolder = StateFolder(path: folder.path + "/root/.ferry")
      let listing = try lister.list { Array(list.utf8) }
      #expect(paths(listing) == ["a", "z"])
      #expect(listing.problems.allSatisfy { $0.kind == .stateFolder && !$0.isFailure })
    }
  }

  /// Moving the state folder below the root simulates that it is also mounted there: its path differs, but the folders
  /// and files are the same.
  @Test func theStateFolderIsRecognizedBelowAnotherPath() throws {
    for name in ["root/a", "root/y/z", "state/ferry.db", "state/sessions/s.db", "state/runs/1/report.json"] {
      folder.file(name)
    }
    let state = StateFolder(path: folder.path + "/state")
    let files = FileManager.default
    try files.linkItem(atPath: folder.path + "/state/ferry.db", toPath: folder.path + "/root/hard.db")
    try files.moveItem(atPath: folder.path + "/state/sessions", toPath: folder.path + "/root/y/sess")
    try files.moveItem(atPath: folder.path + "/state", toPath: folder.path + "/root/x")
    for (link, target) in [("l", "x/ferry.db"), ("y/k", "sess/s.db"), ("alias", "x"), ("h", "hard.db")] {
      try files.createSymbolicLink(atPath: folder.path + "/root/" + link, withDestinationPath: target)
    }
    let own = [
      "x/ferry.db", "x/runs/1/report.json", "y/sess/s.db", "hard.db", "l", "y/k", "alias/ferry.db", "h",
    ]
    for source in [
      FileSelection.Source.globs(include: ["**"], exclude: []), .list("-", nullSeparated: false),
    ] {
      var lister = try FileLister(
        FileSelection(root: "root", source: source), baseFolder: folder.path, home: folder.path)
      lister.stateFolder = state
      let listing = try lister.list { Array((own + ["a", "y/z"]).joined(separator: "\n").utf8) }
      #expect(paths(listing) == ["a", "y/z"])
      #expect(listing.problems.allSatisfy { $0.kind == .stateFolder })
      #expect(try lister.lookUp(own.map { Array($0.utf8) }).files.count == 0)
    }
    var inside = try FileLister(
      FileSelection(root: "root/x/runs/1", source: .globs(include: ["**"], exclude: [])),
      baseFolder: folder.path, home: nil)
    inside.stateFolder = state
    #expect(throws: ListingFailure.self) { try inside.list { [] } }
  }

  /// The state folder is that of one part. The journals of the other parts are also state, also through links.
  @Test func theStateOfEveryPartIsRecognized() throws {
    for name in ["1-of-2/shard", "2-of-2/shard", "2-of-2/ferry.db", "2-of-2/sessions/s.db", "2-of-2/runs/1"] {
      folder.file("root/.st/shards/m/" + name)
    }
    for number in 1...2 {
      try Data("ferry shard 1\nm/\(number)-of-2\n".utf8).write(
        to: URL(filePath: folder.path + "/root/.st/shards/m/\(number)-of-2/shard"))
    }
    for name in ["root/a", "root/b", "root/.st/shards/m/count", "links/shards/other/a"] { folder.file(name) }
    let files = FileManager.default
    let part = folder.path + "/root/.st/shards/m/2-of-2"
    // Hard links to journals, and a file that is not state but has two names.
    for (name, link) in [
      (part + "/ferry.db", "h1"), (part + "/sessions/s.db", "h2"), (part + "/runs/1", "h3"),
      (folder.path + "/root/a", "a2"),
    ] {
      try files.linkItem(atPath: name, toPath: folder.path + "/root/" + link)
    }
    for (link, target) in [
      ("part", "root/.st/shards/m/1-of-2"), ("parts", "root/.st/shards/m"),
      ("links/shards/m", "../../root/.st/shards/m"),
    ] {
      try files.createSymbolicLink(
        atPath: folder.path + "/" + link,
        withDestinationPath: target.hasPrefix("..") ? target : folder.path + "/" + target)
    }
    let own = ["h1", "h2", "h3", ".st/shards/m/2-of-2/ferry.db", ".st/shards/m/count"]
    for path in ["root/.st", "root/.st/shards/m/1-of-2", "part", "parts/1-of-2", "links/shards/m/1-of-2"] {
      for source in [
        FileSelection.Source.globs(include: ["**"], exclude: []), .list("-", nullSeparated: false),
      ] {
        var lister = try FileLister(
          FileSelection(root: "root", source: source), baseFolder: folder.path, home: folder.path)
        lister.stateFolder = try StateFolder(
          of: StateDirectory(explicit: folder.path + "/" + path, environment: [:]))
        let listing = try lister.list { Array((["a", "a2", "b"] + own).joined(separator: "\n").utf8) }
        #expect(paths(listing) == ["a", "a2", "b"], "\(path)")
        #expect(listing.problems.allSatisfy { $0.kind == .stateFolder })
      }
    }
  }

  /// Another process may start its part while this one lists files. The folder `shards` may be a link.
  @Test func theStateOfAPartThatIsCreatedLaterIsRecognized() throws {
    folder.file("root/a")
    let (state, disk) = (folder.path + "/state", folder.path + "/root/disk")
    for path in [state, disk] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    try FileManager.default.createSymbolicLink(atPath: state + "/shards", withDestinationPath: disk)
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    let whole = try StateDirectory(explicit: state, environment: [:])
    lister.stateFolder = try StateFolder(of: whole)
    let part = try #require(ShardMarker(folderName: "1-of-2"))
    try whole.folder(of: part, of: "m").create(for: part, of: "m")
    folder.file("root/disk/m/1-of-2/ferry.db")
    var listing = try lister.list { [] }
    #expect(paths(listing) == ["a"] && listing.problems.isEmpty)
    // A file of another program with this name.
    folder.file("root/b/shard")
    listing = try lister.list { [] }
    #expect(paths(listing) == ["a", "b/shard"] && listing.problems.isEmpty)
  }

  /// Moving the state folder of a part below the root simulates that it is also mounted there.
  @Test func theStateOfAPartIsRecognizedBelowAnotherPath() throws {
    for name in ["root/a", "state/shards/m/2-of-2/ferry.db"] { folder.file(name) }
    try Data("ferry shard 1\nm/2-of-2\n".utf8).write(
      to: URL(filePath: folder.path + "/state/shards/m/2-of-2/shard"))
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    let files = FileManager.default
    try files.moveItem(atPath: folder.path + "/state/shards/m/2-of-2", toPath: folder.path + "/root/x")
    try files.moveItem(atPath: folder.path + "/state", toPath: folder.path + "/elsewhere")
    let listing = try lister.list { [] }
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.path) == [Array("x".utf8)] && listing.problems.allSatisfy(\.isFailure))
  }

  /// Whoever can create a file in a folder, such as the server of a download, must not prevent without notice that its
  /// files are sent.
  @Test func aFolderThatLooksLikeTheStateOfShardsIsAProblem() throws {
    for name in ["root/a", "root/x/b", "root/x/y/c"] { folder.file(name) }
    try Data("ferry shards 1\n1\n".utf8).write(to: URL(filePath: folder.path + "/root/x/count"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/root/z", withDestinationPath: "x/y/c")
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    var listing = try lister.list { [] }
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.kind) == [.unknownState, .unknownState])
    lister = try FileLister(
      FileSelection(root: "root", source: .list("-", nullSeparated: false)), baseFolder: folder.path,
      home: nil)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    listing = try lister.list { Array("a\nx/b\nx/y/c\nz".utf8) }
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.kind) == [.unknownState, .unknownState, .unknownState])
    for root in ["root/x", "root/x/y"] {
      lister = try FileLister(
        FileSelection(root: root, source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
        home: nil)
      lister.stateFolder = StateFolder(path: folder.path + "/state")
      for listing in [
        try lister.list { [] }, try lister.firstFiles(["**"], []).0, try lister.lookUp([Array("c".utf8)]),
      ] {
        #expect(paths(listing).isEmpty && listing.problems.map(\.kind) == [.unknownState])
        #expect(listing.problems.first?.message.contains("/root/x, which contains ferry's file") == true)
      }
    }
  }

  /// Other files may reuse the inode numbers of journals that the state folder had before.
  @Test func aFileIsListedOnceItIsNoLongerInTheStateFolder() throws {
    for name in ["root/a", "state/b", "state/ferry.db"] { folder.file(name) }
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    try FileManager.default.moveItem(atPath: folder.path + "/state/b", toPath: folder.path + "/root/b")
    #expect(paths(try lister.list { [] }) == ["a", "b"])
  }

  /// Renaming the folder of `move_to` simulates that it is also mounted elsewhere below the root, under another name.
  @Test func theMoveToFolderIsRecognizedBelowAnotherPath() throws {
    for name in ["root/a", "root/sent/b"] { folder.file(name) }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/root/alias", withDestinationPath: "other")
    let root = try SourceRoot(Array((folder.path + "/root").utf8))
    let hidden = try #require(root.identity(of: Array("sent".utf8)))
    try FileManager.default.moveItem(atPath: folder.path + "/root/sent", toPath: folder.path + "/root/other")
    var walk = FolderWalk(
      root: root, include: try GlobMatcher(["**"]), exclude: try GlobMatcher([]),
      hidden: .init(path: Array("sent".utf8), identity: hidden))
    #expect(paths(try walk.run()) == ["a"])
    var list = ExplicitList(root: root, hidden: .init(path: Array("sent".utf8), identity: hidden))
    let listing = list.read(["a", "other/b", "alias/b"].map { Array($0.utf8) })
    #expect(paths(listing) == ["a"] && listing.problems.map(\.kind) == [.putAway, .putAway])
  }

  @Test func aRootInTheStateFolderIsRefused() throws {
    folder.file("state/sessions/s.db")
    var lister = try FileLister(
      FileSelection(root: "state/sessions", source: .globs(include: ["**"], exclude: [])),
      baseFolder: folder.path, home: folder.path)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    let error = #expect(throws: ListingFailure.self) { try lister.list { [] } }
    #expect(error?.message.contains("is in ferry's state folder") == true)
  }

  @Test func filesAreOrderedByTheBytesOfTheirPaths() throws {
    let names = [
      "a", "a.txt", "b/x", "b.txt", "b0", "b-", "b/a/z", "b/a.z", "b!", "IMG_00000012", "IMG_00000002",
      "IMG_0000000",
      "dir/a", "dir.d/a", "é/a", "Z", "long-common-prefix-1/x", "long-common-prefix-1.x",
      "long-common-prefix-10",
    ]
    for name in names { folder.file("root/" + name, size: name.utf8.count) }
    let listing = try list(.globs(include: ["**"], exclude: []))
    #expect(paths(listing) == names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    #expect(listing.files.sizes == paths(listing).map { Int64($0.utf8.count) })
    #expect(listing.problems.isEmpty && listing.files.modified.allSatisfy { $0 > 0 })
  }

  @Test func excludedFoldersAreNotListed() throws {
    for name in ["a.jpg", ".b.jpg", ".git/c.jpg", "d/.e/f/g.jpg", "d/h.jpg", "cache/i.jpg"] {
      folder.file("root/" + name)
    }
    #expect(try globs(["**/*.jpg"], exclude: ["**/.*", "cache/"]) == ["a.jpg", "d/h.jpg"])
    #expect(try globs(["d/*.jpg"]) == ["d/h.jpg"])
    #expect(try globs(["*.jpg", "d/**"], exclude: ["d/.e/**"]) == [".b.jpg", "a.jpg", "d/h.jpg"])
  }

  @Test func globsThatMatchNoFileAreReported() throws {
    for name in ["a.jpg", "b/c.png", "b/d.jpg", ".hidden/e.gif", "folder.tif/x"] {
      folder.file("root/" + name)
    }
    func unmatched(_ include: [String], exclude: [String] = []) throws -> [Int] {
      try list(.globs(include: include, exclude: exclude)).unmatched
    }
    #expect(try unmatched(["**"]) == [])
    #expect(try unmatched(["**/*.jpg", "*.png", "**/*.jpeg", "b/**"]) == [1, 2])
    #expect(try unmatched(["*.jpg", "*.jpg", "{a,z}.jpg", "z.jpg"]) == [3])
    // Excluded files and folders do not count as matches.
    #expect(try unmatched(["**/*.gif", "**/*.jpg"], exclude: ["**/.*"]) == [0])
    #expect(try unmatched(["*.tif", "**/x"]) == [0])
    #expect(try unmatched(["./", "a.jpg"]) == [0])
    folder.file("list", size: 0)
    #expect(try list(.list("-", nullSeparated: false), input: "a.jpg\n").unmatched == [])
  }

  @Test func aLinkMatchesAGlobIfItLeadsToAFile() throws {
    folder.file("root/in/file")
    folder.link("root/good", to: "in/file")
    folder.link("root/gone", to: "nowhere")
    #expect(try list(.globs(include: ["good", "gone"], exclude: [])).unmatched == [1])
  }

  @Test func hostileNamesAreListedAsTheyAre() throws {
    let names: [[UInt8]] = [
      Array("a\nb".utf8), Array("q\"'`$".utf8), Array("100%41".utf8), Array("😀".utf8), [0xFF, 0xFE, 0x61],
      Array(repeating: 0x6C, count: 255), Array(" ".utf8), Array("-rf".utf8), Array("\\*".utf8),
    ].sorted { $0.lexicographicallyPrecedes($1) }
    for name in names { folder.file(Array("root/".utf8) + name) }
    let files = try list(.globs(include: ["*"], exclude: [])).files
    #expect((0..<files.count).map { Array(files.path($0)) } == names)
  }

  @Test func linksAreFollowedToFilesInsideTheRootOnly() throws {
    folder.file("outside", size: 3)
    folder.file("root/in/file", size: 5)
    folder.link("root/good", to: "in/file")
    folder.link("root/bad", to: "../outside")
    folder.link("root/loop", to: ".")
    folder.link("root/gone", to: "nowhere")
    let listing = try list(.globs(include: ["**"], exclude: []))
    #expect(paths(listing) == ["good", "in/file"] && listing.files.sizes == [5, 5])
    #expect(listing.problems.map(\.kind) == [.leavingLink])
  }

  @Test func deepFoldersNeedFewDescriptors() throws {
    var name = "root"
    for level in 0..<200 {
      name += "/d"
      folder.file("\(name)/a\(level)")
      folder.file("\(name)/z/f")
    }
    let found = try globs(["**"])
    #expect(found.count == 400)
    #expect(found == found.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
  }

  @Test func aListNamesFilesOneByOne() throws {
    for name in ["root/b", "root/a/c", "root/cr\r", "outside"] { folder.file(name) }
    folder.link("root/out", to: "../outside")
    folder.link("root/up", to: "..")
    let lines = [
      "b", "", "./a//c", "b", "a/../b", "\(folder.path)/root/b", "cr\r", "../outside", "/etc/passwd", "gone",
      "a", "out",
      "up/outside",
    ]
    let listing = try list(.list("-", nullSeparated: false), input: lines.joined(separator: "\n"))
    #expect(paths(listing) == ["a/c", "b", "cr\r"])
    #expect(
      listing.problems.map(\.kind) == [
        .outsideRoot, .outsideRoot, .missing, .notRegular, .outsideRoot, .outsideRoot,
      ])
  }

  @Test func aListThatWouldBlockTheRunIsRejected() throws {
    folder.file("root/a")
    #expect(mkfifo("\(folder.path)/fifo", 0o600) == 0)
    folder.file("sparse")
    #expect(truncate("\(folder.path)/sparse", 1 << 40) == 0)
    for (name, reason) in [
      ("fifo", "it is not a regular file"), ("sparse", "its size is 1099511627776 bytes"),
      ("root", "not a regular file"),
    ] {
      let error = #expect(throws: ListingFailure.self) {
        _ = try list(.list(name, nullSeparated: false))
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  /// A link of another user could lead to a private file, whose lines would then appear in messages.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aListBehindALinkOfAnotherUserIsRefused() throws {
    folder.file("root/a")
    folder.file("private")
    #expect(chmod(folder.path, 0o1777) == 0)
    folder.link("list", to: "private")
    #expect(lchown("\(folder.path)/list", 65534, 65534) == 0)
    let error = #expect(throws: ListingFailure.self) { _ = try list(.list("list", nullSeparated: false)) }
    #expect(error?.message.contains("user 65534") == true, "\(error?.message ?? "")")
  }

  /// The kernel does not open a longer path, so files below it could not be sent. Without the limit, a user who can
  /// write to the root could exhaust the memory.
  @Test func aPathIsNoLongerThanTheKernelAllows() throws {
    folder.file("root/a")
    let name = String(repeating: "n", count: 250)
    var current = open("\(folder.path)/root", O_RDONLY | O_DIRECTORY)
    for _ in 0..<40 {
      #expect(mkdirat(current, name, 0o700) == 0)
      let next = openat(current, name, O_RDONLY | O_DIRECTORY)
      close(openat(next, "file", O_WRONLY | O_CREAT, 0o600))
      close(current)
      current = next
    }
    close(current)
    let listing = try list(.globs(include: ["**"], exclude: []))
    // Paths of up to 16 nested folders fit into 4,095 bytes.
    #expect(listing.files.count == 17)
    #expect(listing.problems.count == 1)
    #expect(listing.problems.first?.message == String(cString: strerror(ENAMETOOLONG)))
    #expect(listing.problems.first?.path.count == 17 * 250 + 16)
    // `TestFolder` removes its files by path, which is not possible here.
    let removal = try Process.run(
      URL(filePath: "/bin/rm"), arguments: ["-rf", "\(folder.path)/root"])
    removal.waitUntilExit()
  }

  /// Another user may have created the name for a file that only the user who runs ferry may read.
  @Test func aFileThatMayBeTheHardLinkOfAnotherUserIsNotListed() throws {
    for name in ["key", "root/own/a", "root/box/b", "root/their/c"] { folder.file(name) }
    let files = FileManager.default
    for link in ["own/key", "box/key", "their/key"] {
      try files.linkItem(atPath: folder.path + "/key", toPath: folder.path + "/root/" + link)
    }
    try files.createSymbolicLink(atPath: folder.path + "/root/own/link", withDestinationPath: "../box/key")
    try files.createSymbolicLink(atPath: folder.path + "/root/own/plain", withDestinationPath: "a")
    #expect(link(folder.path + "/root/own/plain", folder.path + "/root/own/twice") == 0)
    try files.createSymbolicLink(atPath: folder.path + "/root/own/single", withDestinationPath: "a")
    #expect(chmod(folder.path + "/root/box", 0o1777) == 0)
    let isRoot = geteuid() == 0
    if isRoot { #expect(chown(folder.path + "/root/their", 65534, 65534) == 0) }
    let expected = ["box/b", "own/a", "own/key", "own/single"] + (isRoot ? [] : ["their/c", "their/key"])
    let refused =
      ["box/key", "own/link", "own/plain", "own/twice"] + (isRoot ? ["their/c", "their/key"] : [])
    for source in [
      FileSelection.Source.globs(include: ["**"], exclude: []), .list("-", nullSeparated: false),
    ] {
      for isProtected in [false, true] {
        var lister = try FileLister(
          FileSelection(root: "root", source: source), baseFolder: folder.path, home: folder.path)
        lister.links = LinkOwner(hardLinksAreProtected: isProtected)
        let listing = try lister.list { Array((expected + refused).joined(separator: "\n").utf8) }
        #expect(paths(listing) == (isProtected ? expected + refused : expected).sorted())
        let problems = listing.problems.map { String(decoding: $0.path, as: UTF8.self) }
        #expect(problems.sorted() == (isProtected ? [] : refused))
      }
    }
  }

  @Test func aListFileMayBeNULSeparated() throws {
    folder.file("root/a\nb")
    try Data("a\nb\0".utf8).write(to: URL(fileURLWithPath: folder.path + "/files"))
    #expect(paths(try list(.list("files", nullSeparated: true))) == ["a\nb"])
    #expect(throws: ListingFailure.self) { try list(.list("nope", nullSeparated: true)) }
  }

  @Test func aRootThatIsNoFolderIsReported() throws {
    folder.file("file")
    let missing = #expect(throws: ListingFailure.self) { try globs(["**"]) }
    #expect(missing?.message == "cannot list \(folder.path)/root: No such file or directory")
    let file = #expect(throws: ListingFailure.self) {
      try list(.globs(include: ["**"], exclude: []), root: "~/file")
    }
    #expect(file?.message == "cannot list \(folder.path)/file: Not a directory")
    for failure in [missing, file] {
      #expect(failure?.remedy?.contains("change the upload's 'root'") == true)
    }
  }

  /// Set FERRY_LIST to a folder to measure how long its listing takes.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["FERRY_LIST"] != nil)) func listingIsTimed() throws {
    let root = ProcessInfo.processInfo.environment["FERRY_LIST"] ?? ""
    let source = FileSelection.Source.globs(include: ["**/*.jpg"], exclude: ["**/.*"])
    for _ in 0..<3 {
      let start = ContinuousClock.now
      let count = try list(source, root: root).files.count
      print("listed \(count) in \(ContinuousClock.now - start)")
    }
  }

  /// If ferry followed such a link, a user with write access to one folder of the root could have any file in the root
  /// sent.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aLinkOfOneUserToAFileOfAnotherIsNotFollowed() throws {
    folder.file("root/private")
    folder.file("root/own")
    for (name, target) in [("theirs", "private"), ("fair", "own")] {
      folder.link("root/" + name, to: target)
      #expect(lchown("\(folder.path)/root/\(name)", 65534, 65534) == 0)
    }
    #expect(chown("\(folder.path)/root/own", 65534, 65534) == 0)
    let listing = try list(.globs(include: ["**"], exclude: []))
    #expect(paths(listing) == ["fair", "own", "private"])
    #expect(listing.problems.map(\.kind) == [.foreignLink])
    let named = try list(.list("-", nullSeparated: false), input: "theirs\nfair\n")
    #expect(paths(named) == ["fair"] && named.problems.map(\.kind) == [.permission])
  }

  @Test func aLinkThatCannotBeFollowedIsAProblem() throws {
    folder.file("root/a")
    // No file system allows a name of this length.
    folder.link("root/l", to: String(repeating: "n", count: 300))
    folder.link("root/dangling", to: "nowhere")
    let listing = try list(.globs(include: ["**"], exclude: []))
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.path) == [Array("l".utf8)] && listing.problems.map(\.kind) == [.other])
  }

  /// The real path is longer than the kernel accepts, so ferry cannot determine it.
  @Test func theStateFolderIsNotListedThroughALongLink() throws {
    let (name, link) = (String(repeating: "n", count: 202), String(repeating: "l", count: 30))
    folder.file("root/state/ferry.db")
    var descriptor = open(folder.path + "/root", O_RDONLY | O_DIRECTORY)
    for _ in 0..<20 {
      #expect(mkdirat(descriptor, name, 0o755) == 0)
      let next = openat(descriptor, name, O_RDONLY | O_DIRECTORY)
      close(descriptor)
      descriptor = next
    }
    #expect(symlinkat(String(repeating: "../", count: 20) + "state/ferry.db", descriptor, link) == 0)
    close(descriptor)
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: nil)
    #expect(paths(try lister.list { [] }).count == 2)
    lister.stateFolder = StateFolder(path: folder.path + "/root/state")
    let listing = try lister.list { [] }
    #expect(paths(listing).isEmpty && listing.problems.isEmpty)
    let path = Array((String(repeating: name + "/", count: 20) + link).utf8)
    #expect(try lister.lookUp([path]).problems.map(\.kind) == [.stateFolder])
  }

  /// The user's own link leads through a link of another user, and the path of a list contains another user's link to a
  /// folder.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func everyLinkInAPathIsChecked() throws {
    folder.file("root/private/key")
    folder.file("root/public/x")
    folder.link("root/latest", to: "public/current")
    folder.link("root/public/current", to: "../private/key")
    folder.link("root/public/d", to: "../private")
    for name in ["current", "d"] {
      #expect(lchown("\(folder.path)/root/public/\(name)", 65534, 65534) == 0)
    }
    let listing = try list(.globs(include: ["latest", "public/**"], exclude: ["private/**"]))
    #expect(paths(listing) == ["public/x"])
    #expect(listing.problems.map(\.kind) == [.foreignLink, .foreignLink])
    let named = try list(.list("-", nullSeparated: false), input: "public/d/key\nlatest\nprivate/key\n")
    #expect(paths(named) == ["private/key"] && named.problems.map(\.kind) == [.permission, .permission])
  }

  /// Each of the 36 links leads through 800 folders. The number of folders in one lookup is limited.
  @Test func linksThatLeadThroughManyFoldersAreNotFollowed() throws {
    folder.file("root/d/x")
    folder.file("root/file")
    var last = "file"
    for number in 0..<36 {
      folder.link("root/l\(number)", to: String(repeating: "d/../", count: 800) + last)
      last = "l\(number)"
    }
    let listing = try list(.globs(include: ["**"], exclude: []))
    #expect(paths(listing).contains("l0") && !paths(listing).contains("l35"))
  }

  @Test(arguments: ["ABSOLUTE/in/file", "../root/in/file", "in/../in/./file", "way/file"])
  func linksThatReturnToTheRootAreFollowed(_ target: String) throws {
    folder.file("root/in/file", size: 5)
    folder.link("root/way", to: "in")
    folder.link("root/link", to: target.replacing("ABSOLUTE", with: folder.path + "/root"))
    let listing = try list(.globs(include: ["link"], exclude: []))
    #expect(paths(listing) == ["link"] && listing.files.sizes == [5], "\(listing.problems)")
  }

  /// Files are listed in the folder that was opened, even if a link has replaced it in the meantime.
  @Test func aFolderThatIsReplacedByALinkIsNotFollowed() throws {
    folder.file("root/in/d/s", size: 3)
    folder.file("root/private/s", size: 7)
    folder.link("root/in/l", to: "../private")
    let root = try SourceRoot(Array("\(folder.path)/root".utf8))
    #expect(root.plainFolder(Array("in/l".utf8)) == nil && root.plainFolder(Array("in/x".utf8)) == nil)
    let opened = try #require(root.plainFolder(Array("in/d".utf8)))
    let path = folder.path + "/root/in/"
    #expect(rename(path + "d", path + "was") == 0 && rename(path + "l", path + "d") == 0)
    var status = stat()
    #expect(opened.status(of: Array("s".utf8), &status) && status.st_size == 3)
  }

  /// While another user repeatedly exchanges a folder and a link to a private folder, no listing contains the private
  /// file.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aRaceWithALinkOfAnotherUserFindsNoPrivateFile() throws {
    folder.file("root/in/d/s", size: 3)
    folder.file("root/private/s", size: 7)
    folder.link("root/in/l", to: "../private")
    #expect(lchown("\(folder.path)/root/in/l", 65534, 65534) == 0)
    let path = folder.path + "/root/in/"
    let isOver = Atomic(false)
    let other = Thread {
      while !isOver.load(ordering: .relaxed) {
        rename(path + "d", path + "x")
        rename(path + "l", path + "d")
        rename(path + "d", path + "l")
        rename(path + "x", path + "d")
      }
    }
    other.start()
    defer { isOver.store(true, ordering: .relaxed) }
    let end = ContinuousClock.now.advanced(by: .seconds(2))
    var found = 0
    while ContinuousClock.now < end {
      let listing = try list(.list("-", nullSeparated: false), input: "in/d/s\nin/d/s\nin/d/s\n")
      found += listing.files.count
      #expect(!listing.files.sizes.contains(7))
    }
    #expect(found > 0)
  }

  @Test func aListIsNotReadToItsEndAfterAStop() throws {
    for name in ["f", "d/x"] { folder.file("root/" + name) }
    folder.link("root/l", to: String(repeating: "d/../", count: 800) + "f")
    var lister = try FileLister(
      FileSelection(root: "root", source: .list("-", nullSeparated: false)), baseFolder: folder.path,
      home: nil)
    for name in ["f", "l"] {
      let looks = Atomic(0)
      lister.isStopped = { looks.add(1, ordering: .relaxed).newValue > 3 }
      let time = try ThreadTime.measure {
        _ = try lister.named(Array(repeating: Array(name.utf8), count: 20_000))
      }
      #expect(looks.load(ordering: .relaxed) > 3 && time < .seconds(5), "\(name): \(time)")
    }
  }

  /// An incomplete list must not be treated as complete, and comparing it with the journal would take time.
  @Test func aStoppedListingHasNoFiles() throws {
    for index in 0..<2000 { folder.file("root/\(index % 7)/\(index)") }
    let names = (0..<2000).map { "\($0 % 7)/\($0)\n" }.joined()
    folder.file("list")
    try Data(names.utf8).write(to: URL(fileURLWithPath: folder.path + "/list"))
    let sources: [FileSelection.Source] = [
      .globs(include: ["**"], exclude: []), .list("list", nullSeparated: false),
      .list("-", nullSeparated: false),
    ]
    for source in sources {
      var lister = try FileLister(
        FileSelection(root: "root", source: source), baseFolder: folder.path, home: nil)
      #expect(try lister.list { Array(names.utf8) }.files.count == 2000)
      for limit in [0, 1, 3] {
        let looks = Atomic(0)
        lister.isStopped = { looks.add(1, ordering: .relaxed).newValue > limit }
        let listing = try lister.list { Array(names.utf8) }
        #expect(listing.files.count == 0 && listing.problems.isEmpty, "\(source)")
        #expect(try lister.named([Array("0/0".utf8)]).files.count == 0)
      }
    }
  }

  @Test func aStopEndsTheSortingOfAList() throws {
    folder.file("root/a")
    folder.file("root/b")
    let root = try SourceRoot(Array((folder.path + "/root").utf8))
    let lines = (0..<100_000).map { $0.isMultiple(of: 2) ? "b" : "a" }.joined(separator: "\n")
    let looks = Atomic(0)
    var list = ExplicitList(root: root) {
      looks.add(1, ordering: .relaxed); return false
    }
    func readAll() -> Listing {
      list.read(Array(lines.utf8), nullSeparated: false) { _ in false }
    }
    #expect(readAll().files.count == 2)
    let all = looks.load(ordering: .relaxed)
    // The listing is stopped after all lines have been read.
    let read = 100_000 / 256 + 1
    #expect(all > read + 1)
    looks.store(0, ordering: .relaxed)
    list = ExplicitList(root: root) { looks.add(1, ordering: .relaxed).newValue > read }
    #expect(readAll().files.count == 0)
    #expect(looks.load(ordering: .relaxed) == read + 1)
  }

  @Test func aPathWithManyParentFoldersIsBoundedWorkAndCanBeStopped() throws {
    let folders = String(repeating: "d/", count: 50)
    folder.file("root/\(folders)a")
    folder.file("root/a")
    let root = try SourceRoot(Array((folder.path + "/root").utf8))
    func read(_ path: String, stopAfter limit: Int) -> (listing: Listing, looks: Int) {
      let looks = Atomic(0)
      var list = ExplicitList(root: root) { looks.add(1, ordering: .relaxed).newValue > limit }
      let listing = list.read([Array(path.utf8)])
      return (listing, looks.load(ordering: .relaxed))
    }
    let up = folders + String(repeating: "../", count: 50) + "a"
    let found = read(up, stopAfter: .max)
    #expect(paths(found.listing) == ["a"])
    // One check for the list, one for its sorting, and one for the first `..`; the folders above are then known.
    #expect(found.looks == 3)
    // Each `..` follows a folder that has not been looked at.
    let zigzag = folders + String(repeating: "../d/", count: 50) + "a"
    #expect(paths(read(zigzag, stopAfter: .max).listing) == [folders + "a"])
    let stopped = read(zigzag, stopAfter: 10)
    #expect(stopped.listing.files.count == 0 && stopped.listing.problems.isEmpty && stopped.looks == 11)
  }

  @Test(arguments: ["\u{0}", "\u{1}", "x"])
  func onlyTheBeginningOfALineThatIsNoPathIsKept(_ character: String) throws {
    folder.file("root/a")
    let line = String(repeating: character, count: 1 << 20)
    let listing = try list(.list("-", nullSeparated: false), input: "\(line)\na\n")
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.path.count) == [Int(PATH_MAX)])
  }

  @Test func onlyTheFirstProblemsOfAListAreKept() throws {
    folder.file("root/a")
    let lines = (0..<20_000).map { "missing \($0)\n" }.joined() + "a\n"
    let listing = try list(.list("-", nullSeparated: false), input: lines)
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.count == ListingProblems.most)
    #expect(listing.problems.last?.path == Array("missing \(ListingProblems.most - 1)".utf8))
    #expect(listing.problems.failures == 20_000 && listing.problems.omittedFailures == 10_000)
    #expect(listing.problems.omission == "and 10000 more")
    let lister = try FileLister(
      FileSelection(root: "root", source: .list("-", nullSeparated: false)), baseFolder: folder.path,
      home: nil)
    // If paths are submitted, each missing file fails with its own reason.
    let named = try lister.named((0..<20_000).map { Array("missing \($0)".utf8) })
    #expect(named.problems.count == 20_000 && named.problems.omission == nil)
  }

  /// A link whose target is missing does not count as a missing file, and a name with NUL is not a path.
  @Test func onlyAPathWithoutAFileCanBeThatOfATakenFile() throws {
    for name in ["root/a", "root/d/b", "root/file"] { folder.file(name) }
    folder.link("root/dangling", to: "nowhere")
    folder.link("root/alias", to: "d")
    let lister = try FileLister(
      FileSelection(root: "root", source: .list("-", nullSeparated: false)), baseFolder: folder.path,
      home: nil)
    let lines = [
      "a", "./gone", "missing", "d//gone", "none/gone", "alias/gone", "file/gone", "dangling", "x\u{0}y",
      "../gone", "d", "d/b",
    ]
    var asked: [String] = []
    let listing = try lister.list { path in
      asked.append(String(decoding: path, as: UTF8.self))
      return path.suffix(4).elementsEqual("gone".utf8)
    } standardInput: {
      Array(lines.joined(separator: "\n").utf8)
    }
    #expect(asked == ["gone", "missing", "d/gone", "none/gone", "alias/gone", "file/gone"])
    #expect(paths(listing) == ["a", "d/b"])
    let problems = listing.problems.map { String(decoding: $0.path, as: UTF8.self) }
    #expect(problems == ["missing", "dangling", "x\u{0}y", "../gone", "d"])
    struct Fault: Error {}
    #expect(throws: Fault.self) {
      try lister.list(isTaken: { _ in throw Fault() }, standardInput: { Array("gone".utf8) })
    }
    // A submitted file that is missing fails, even if it could have been taken away.
    #expect(try lister.named([Array("gone".utf8)]).problems.count == 1)
  }

  @Test func ferrysOwnTemporaryFilesAreNotListed() throws {
    let temporary = [".doc.ferry-part-1x", "d/.doc.ferry-part-3w5e11264sgsf", "d/.ferry-part-0"]
    for name in temporary + ["doc", ".doc.ferry-part-", "ferry-part-1", ".f.ferry-part-1/x"] {
      folder.file("root/" + name)
    }
    let listed = [".doc.ferry-part-", ".f.ferry-part-1/x", "doc", "ferry-part-1"]
    #expect(try globs(["**"]) == listed)
    let all = (temporary + listed).map { $0 + "\n" }.joined()
    let listing = try list(.list("-", nullSeparated: false), input: all)
    #expect(paths(listing) == listed)
    #expect(listing.problems.map(\.kind) == [.temporary, .temporary, .temporary])
    #expect(listing.problems.failures == 0)
  }

  /// Without line breaks, a line may be as long as the whole list.
  @Test func aLineThatIsLongerThanAPathIsNotSplit() throws {
    folder.file("root/a")
    let long = String(repeating: "./", count: 2047) + "a"
    let listing = try list(.list("-", nullSeparated: false), input: "\(long)\n./\(long)\na\n")
    #expect(paths(listing) == ["a"])
    #expect(listing.problems.map(\.message) == [String(cString: strerror(ENAMETOOLONG))])
    #expect(listing.problems.first?.path.count == Int(PATH_MAX))
  }

  /// The kernel resolves `..` after a link relative to the link's target.
  @Test(arguments: ["link/../x", "way/link/../x", "missing/../x"])
  func aParentFolderAfterALinkIsNotResolvedByTheText(_ path: String) throws {
    for name in ["x", "a/x", "a/b/y", "in/z"] { folder.file("root/" + name) }
    folder.link("root/link", to: "a/b")
    folder.link("root/way", to: "in")
    let listing = try list(.list("-", nullSeparated: false), input: path + "\na/b/../x\n")
    #expect(paths(listing) == ["a/x"] && listing.problems.map(\.kind) == [.other])
    #expect(listing.problems.first?.message.contains("'..' after a symbolic link") == true)
  }

  @Test func theFolderOfMovedFilesIsNotListedThroughALink() throws {
    for name in ["f", "sent/g", "other/h"] { folder.file("root/" + name) }
    folder.link("root/alias", to: "sent")
    folder.link("root/more", to: "other")
    let lister = try FileLister(
      FileSelection(root: "root", source: .list("-", nullSeparated: false)), after: .moveTo("sent"),
      baseFolder: folder.path, home: nil)
    let listing = try lister.named(["f", "alias/g", "sent/g", "more/h"].map { Array($0.utf8) })
    #expect(paths(listing) == ["f", "more/h"])
    #expect(listing.problems.map(\.kind) == [.putAway, .putAway])
  }

  /// A root may contain other file systems, whose files may have the same inode numbers.
  @Test func aFileOfAnotherFileSystemIsRecognizedByItsDeviceToo() throws {
    folder.file("root/f")
    var status = stat()
    #expect(stat("\(folder.path)/root/f", &status) == 0)
    let root = try SourceRoot(Array("\(folder.path)/root".utf8))
    #expect(root.device == UInt64(status.st_dev))
    #expect(status.inode(beneath: root.device) == UInt64(status.st_ino))
    #expect(status.inode(beneath: UInt64(status.st_dev) + 1) == status.identity)
    #expect(status.inode(beneath: UInt64(status.st_dev) + 1) != UInt64(status.st_ino))
  }
}

import FerryPlan
import Foundation
import Testing

@testable import FerryJournal

@Suite struct StateDirectoryTests {
  @Test func theFolderIsTheFirstThatIsNamed() throws {
    let all = ["FERRY_STATE": "/f", "XDG_STATE_HOME": "/x", "HOME": "/h"]
    #expect(try StateDirectory(explicit: "/e", environment: all).path == "/e")
    #expect(try StateDirectory(explicit: nil, environment: all).path == "/f")
    #expect(
      try StateDirectory(explicit: nil, environment: ["XDG_STATE_HOME": "/x", "HOME": "/h"]).path
        == "/x/ferry")
    #expect(
      try StateDirectory(
        explicit: nil, environment: ["FERRY_STATE": "", "XDG_STATE_HOME": "rel", "HOME": "/h"]
      ).path
        == "/h/.local/state/ferry")
  }

  @Test func withoutHOMETheErrorReportsWhatToSet() throws {
    let error = try #require(throws: JournalError.self) {
      try StateDirectory(explicit: nil, environment: [:])
    }
    #expect(error.code == .folderUnknown)
    #expect(error.description.contains("--state") && error.description.contains("HOME"))
  }

  @Test func theFirstNumberOfShardsIsRecordedForGood() throws {
    let state = try TemporaryState()
    let directory = state.directory
    #expect(try directory.shardCount(of: "m") == nil)
    #expect(try directory.recordDivision(of: "m", into: 3))
    #expect(try !directory.recordDivision(of: "m", into: 4))
    #expect(try directory.shardCount(of: "m") == 3)
    let folder = try directory.shards(of: "m")
    #expect(try StateDirectory.names(in: folder) == ["count"])
    #expect(state.mode(folder) == 0o700 && state.mode(folder + "/count") == 0o600)
    try directory.removeDivision(of: "m")
    #expect(try directory.shardCount(of: "m") == nil)
    try Data("ferry shards 1\n0\n".utf8).write(to: URL(filePath: folder + "/count"))
    #expect(throws: JournalError.self) { try directory.shardCount(of: "m") }
  }

  /// A link may lead to the state folder of a part, to the folder with all parts, or from `shards` to another disk.
  @Test func thePlaceOfAPartIsFoundThroughLinks() throws {
    let state = try TemporaryState()
    let root = state.directory.path
    let (first, second) = (ShardMarker(folderName: "1-of-2"), ShardMarker(folderName: "2-of-2"))
    func created(in whole: String) throws {
      let whole = try StateDirectory(explicit: root + whole, environment: [:])
      _ = try whole.recordDivision(of: "m", into: 2)
      try whole.folder(of: #require(first), of: "m").create(for: #require(first), of: "m")
    }
    try created(in: "/st")
    for folder in ["links/shards/x", "disk", "st2"] {
      try FileManager.default.createDirectory(
        atPath: root + "/" + folder, withIntermediateDirectories: true)
    }
    #expect(symlink("../disk", root + "/st2/shards") == 0)
    try created(in: "/st2")
    for (link, target) in [
      ("part", "st/shards/m/1-of-2"), ("parts", "st/shards/m"),
      ("links/shards/x/1-of-2", "../../../st/shards/m/1-of-2"),
    ] { #expect(symlink(target, root + "/" + link) == 0) }
    for (path, whole) in [
      ("part", "st"), ("parts/1-of-2", "st"), ("links/shards/x/1-of-2", "st"),
      ("st2/shards/m/1-of-2", "st2"),
    ] {
      let folder = try StateDirectory(explicit: root + "/" + path, environment: [:])
      let parts = root + "/" + whole + "/shards/m"
      #expect(try real(folder.whole.path) == real(root + "/" + whole), "\(path)")
      #expect(try real(SplitPath(folder.sharedLedger.path).folder) == real(parts), "\(path)")
      #expect(try real(SplitPath(folder.sibling(#require(second)).path).folder) == real(parts), "\(path)")
      #expect(try folder.manifestOfPart == "m")
    }
    #expect(
      AbsolutePath.withoutLinks(root + "/part/a/b") == (real(root + "/st") ?? "") + "/shards/m/1-of-2/a/b")
  }

  private func real(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  @Test func theStateFolderOfAPartIsNotUsedAsThatOfAnother() throws {
    let state = try TemporaryState()
    let parts = try ["1-of-2", "2-of-2"].map { try #require(ShardMarker(folderName: $0)) }
    let folders = try parts.map { try state.directory.folder(of: $0, of: "m") }
    for (part, folder) in zip(parts, folders) { try folder.create(for: part, of: "m") }
    let files = FileManager.default
    try files.moveItem(atPath: folders[0].path, toPath: state.directory.path + "/moved")
    // A folder elsewhere contains the state of the part that is recorded in it.
    let moved = try StateDirectory(explicit: state.directory.path + "/moved", environment: [:])
    #expect(try moved.storedPart == parts[0])
    var error = #expect(throws: JournalError.self) { try moved.create(for: parts[1], of: "m") }
    #expect(error?.code == .misplaced)
    try files.moveItem(atPath: folders[1].path, toPath: folders[0].path)
    error = #expect(throws: JournalError.self) { try folders[0].create(for: parts[0], of: "m") }
    #expect(error?.code == .misplaced && error?.description.contains("state of m/2-of-2") == true)
    #expect(throws: JournalError.self) { try folders[0].storedPart }
    try files.moveItem(atPath: folders[0].path, toPath: folders[1].path)
    #expect(try folders[1].storedPart == parts[1])
  }

  @Test func aSessionsNameStaysInsideTheFolder() throws {
    let state = try StateDirectory(explicit: "/s", environment: [:])
    #expect(try state.database(ofSession: "com.example.photos") == "/s/sessions/com.example.photos.db")
    #expect(try state.database(ofSession: "../../etc") == "/s/sessions/%2E.%2F..%2Fetc.db")
    #expect(try state.lock(ofSession: "a b") == "/s/sessions/a%20b.lock")
    #expect(try state.report(ofRun: "r1") == "/s/runs/r1/report.json")
    #expect(throws: JournalError.self) { try state.database(ofSession: "") }
    #expect(throws: JournalError.self) { try state.database(ofSession: String(repeating: "a", count: 201)) }
  }

  @Test func aPrintedCommandNamesTheFolderIfTheUserNamedIt() throws {
    let usual = try StateDirectory(explicit: nil, environment: ["HOME": "/h"])
    #expect(usual.command(["status", "a b"]) == "ferry status 'a b'")
    let named = try StateDirectory(explicit: "/s t", environment: [:])
    #expect(named.command(["status"]) == "ferry status --state '/s t'")
    let relative = try StateDirectory(explicit: "s", environment: [:])
    let here = FileManager.default.currentDirectoryPath
    #expect(relative.command(["status"]) == "ferry status --state \(here)/s")
    #expect(
      named.command(["resolve", "-a/b", "done"], options: [("--session", "-s")])
        == "ferry resolve --session=-s --state '/s t' -- -a/b done")
  }

  @Test func aPrintedCommandNamesTheResolvedFolder() throws {
    let state = try TemporaryState()
    try state.directory.create()
    let root = state.directory.path
    #expect(symlink(root + "/runs", root + "/sessions/link") == 0)
    let real = try #require(realpath(root, nil))
    defer { free(real) }
    let folder = try StateDirectory(explicit: root + "/sessions/link/../st", environment: [:])
    #expect(folder.command(["status"]) == "ferry status --state \(String(cString: real))/st")
    // The path stays unchanged if nothing exists there.
    #expect(AbsolutePath.text(of: "/nowhere/a/../b") == "/nowhere/a/../b")
    // A link after the last `..` is part of the name that the user specified.
    #expect(AbsolutePath.text(of: "/usr/../proc/./self/fd/x") == "/proc/self/fd/x")
  }

  @Test func aDamagedJournalsRemedyNamesItsFolder() throws {
    for file in ["/s t/ferry.db", "/s t/sessions/x.db"] {
      let error = JournalError(.damaged, file: file, cause: "")
      #expect(error.remedy.hasSuffix("commands: ferry journal check --state '/s t'"), "\(error.remedy)")
    }
  }

  @Test func theSessionsAreListedByTheirIdentifiers() throws {
    let state = try TemporaryState()
    #expect(try state.directory.sessions().isEmpty)
    for name in ["b/ü", "a"] { try state.open(name).close() }
    #expect(try state.directory.sessions() == ["a", "b/ü"])
    // Only another user can have created this file.
    #expect(
      FileManager.default.createFile(atPath: state.directory.path + "/sessions/%1B[31mred.db", contents: nil))
    #expect(try state.directory.sessions() == ["a", "b/ü"])
  }

  @Test func anUnreadableSessionsFolderDoesNotCountAsEmpty() throws {
    let state = try TemporaryState()
    try FileManager.default.createDirectory(atPath: state.directory.path, withIntermediateDirectories: true)
    // A file in place of the folder causes an error even for root, who can read every folder.
    try Data().write(to: URL(filePath: state.directory.sessionsFolder))
    let error = try #require(throws: JournalError.self) { try state.directory.sessions() }
    #expect(error.file == state.directory.sessionsFolder)
  }

  @Test func aFileInPlaceOfTheFolderIsNamed() throws {
    let state = try TemporaryState()
    try Data("x".utf8).write(to: URL(fileURLWithPath: state.directory.path))
    let error = try #require(throws: JournalError.self) { try state.directory.create() }
    #expect(error.code == .readOnly || error.code == .io)
    #expect(error.file.hasPrefix(state.directory.path))
  }

  /// Another user can create a link in a folder of their own, after a folder with that name was removed.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func aForeignFolderIsFoundBetweenTwoLinks() throws {
    let state = try TemporaryState()
    try state.directory.create()
    let top = state.directory.path
    for (name, mode) in [("shared", 0o1777), ("shared/theirs", 0o755), ("private", 0o700)]
      as [(String, mode_t)]
    {
      try FileManager.default.createDirectory(atPath: top + "/" + name, withIntermediateDirectories: false)
      try #require(chmod(top + "/" + name, mode) == 0)
    }
    try #require(symlink("../../private", top + "/shared/theirs/state") == 0)
    try #require(symlink("shared/theirs/state", top + "/link") == 0)
    for path in ["link", "link/folder", "shared/../link"] {
      try PrivateFolder.checkParents(of: top + "/" + path)
    }
    // A target that is not UTF-8 could not be checked.
    let bytes = (Array((top + "/private").utf8) + [0xFF, 0]).map { CChar(bitPattern: $0) }
    try #require(symlink(bytes, top + "/strange") == 0)
    #expect(throws: JournalError.self) { try PrivateFolder.checkParents(of: top + "/strange") }
    try #require(chown(top + "/shared/theirs", 65534, 65534) == 0)
    for path in ["link", "link/folder", "shared/../link"] {
      let error = #expect(throws: JournalError.self) { try PrivateFolder.checkParents(of: top + "/" + path) }
      #expect(error?.code == .unsafeFolder && error?.file.hasSuffix("/shared/theirs") == true)
    }
  }
}

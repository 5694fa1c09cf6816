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
}

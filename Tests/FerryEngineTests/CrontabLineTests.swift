import FerryPlan
import Testing

@testable import FerryEngine

struct CrontabLineTests {
  private let moment = Instant(nanoseconds: 1_767_225_600_000_000_000)  // 2026-01-01T00:00:00Z

  @Test(arguments: [
    ("/srv/photos/job.yaml", "cd /srv/photos && ferry run job.yaml"),
    ("/srv/my photos/job.yaml", "cd '/srv/my photos' && ferry run job.yaml"),
    ("/srv/it's/a$b.yaml", "cd '/srv/it'\\''s' && ferry run 'a$b.yaml'"),
    ("/srv/100%/-n.yaml", "cd '/srv/100\\%' && ferry run ./-n.yaml"),
    // Many cron programs replace `\\` with one backslash, so `\\%` would end the line.
    ("/srv/a\\%b/job.yaml", "cd '/srv/a\\''\\%b' && ferry run job.yaml"),
    ("/srv/a\\\\b/job.yaml", "cd '/srv/a\\''\\b' && ferry run job.yaml"),
    ("/srv/a\\'b/job.yaml", "cd '/srv/a\\'\\''b' && ferry run job.yaml"),
    ("/srv/a/./b//job.yaml", "cd /srv/a/b && ferry run job.yaml"),
    // In Swift, a combining mark and the letter before it are one `Character`, but the shell and cron process bytes.
    ("/srv/a'\u{301};id;/job.yaml", "cd '/srv/a'\\''\u{301};id;' && ferry run job.yaml"),
    ("/srv/100%\u{301}/job.yaml", "cd '/srv/100\\%\u{301}' && ferry run job.yaml"),
    ("/srv/-\u{301}/-\u{301}.yaml", "cd '/srv/-\u{301}' && ferry run './-\u{301}.yaml'"),
  ])
  func pathsAreQuotedForTheShellAndForCron(_ path: String, _ command: String) throws {
    let line = CrontabLine(manifest: path, state: nil, variables: [:])
    #expect(try line.text(at: moment, in: .utc) == "0 0 1 1 * \(command)")
  }

  @Test func aFolderBehindALinkIsTheOneThatTheSystemFinds() throws {
    let folder = try TestFolder()
    folder.file("real/deep/a")
    folder.file("real/job.yaml")
    folder.link("link", to: "real/deep")
    let line = CrontabLine(
      manifest: folder.path + "/link/../job.yaml", state: folder.path + "/link/../st", variables: [:])
    let real = try #require(FileLister.real(Array((folder.path + "/real").utf8)))
    let place = String(decoding: real, as: UTF8.self)
    #expect(
      try line.text(at: moment, in: .utc)
        == "0 0 1 1 * cd \(place) && ferry run job.yaml --state \(place)/st")
  }

  @Test func theLineHasTheStateFolderAndVariables() throws {
    let line = CrontabLine(
      manifest: "/a/job.yaml", state: "/var/lib/ferry", variables: ["b": "x y", "a": ""],
      variableFiles: ["/etc/v.yaml"])
    #expect(
      try line.text(at: moment, in: .utc)
        == "0 0 1 1 * cd /a && ferry run job.yaml --state /var/lib/ferry --vars-file /etc/v.yaml --var a= "
        + "--var 'b=x y'")
  }

  @Test func aLineBreakCannotBeWritten() {
    let line = CrontabLine(manifest: "/a/job.yaml", state: nil, variables: ["a": "x\ny"])
    #expect(throws: UsageError.self) { try line.text(at: moment, in: .utc) }
  }
}

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
    ("/srv/a/../b/job.yaml", "cd /srv/b && ferry run job.yaml"),
  ])
  func pathsAreQuotedForTheShellAndForCron(_ path: String, _ command: String) throws {
    let line = CrontabLine(manifest: path, state: nil, variables: [:])
    #expect(try line.text(at: moment, in: .utc) == "0 0 1 1 * \(command)")
  }

  @Test func stateAndVariablesGoWithIt() throws {
    let line = CrontabLine(
      manifest: "/a/job.yaml", state: "/var/lib/ferry", variables: ["b": "x y", "a": ""],
      variableFiles: ["/etc/v.yaml"])
    #expect(
      try line.text(at: moment, in: .utc)
        == "0 0 1 1 * cd /a && ferry run job.yaml --state /var/lib/ferry --vars-file /etc/v.yaml --var a= "
        + "--var 'b=x y'")
  }

  @Test func aLineEndCannotBeSaid() {
    let line = CrontabLine(manifest: "/a/job.yaml", state: nil, variables: ["a": "x\ny"])
    #expect(throws: UsageError.self) { try line.text(at: moment, in: .utc) }
  }
}

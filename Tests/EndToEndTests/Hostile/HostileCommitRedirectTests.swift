import Foundation
import Testing

/// A commit that the server executed, and whose redirect leads to an unrelated resource.
@Suite struct `A redirect of a commit that was executed` {
  private static let targets: [(name: String, fault: String)] = [
    ("503", "status=503"), ("429", "status=429"), ("404", "status=404"), ("410", "status=410"),
    ("401", "status=401"), ("403", "status=403"), ("200", "status=200"),
  ]

  /// One run sends a file for each combination of status and target.
  @Test func `is never judged by its target if it became a GET or no target was reached`()
    async throws
  {
    let other = try await ReceiverProcess.start()
    for target in Self.targets {
      try await other.add(spec: "any:match=/to-\(target.name)-end,\(target.fault)")
    }
    let receiver = try await ReceiverProcess.start()
    let places = Self.targets.map { ("to-\($0.name)-end", "\(other.url)/to-\($0.name)-end") }
    // A label of a host name has at most 63 bytes, so no DNS query is sent for this name.
    let unreachable = [
      ("to-port-end", "http://127.0.0.1:1/x"),
      ("to-name-end", "http://\(String(repeating: "a", count: 64)).test/x"),
    ]
    var files: [String] = []
    func add(_ status: Int, _ place: (name: String, url: String)) async throws {
      let name = "\(status)-\(place.name)"
      files.append(name)
      try await receiver.add(
        spec: "commit:match=case=\(name),response=redirect,status=\(status),location=\(place.url),work=done")
    }
    for status in [301, 302, 303] { for place in places + unreachable { try await add(status, place) } }
    for status in [307, 308] { for place in unreachable { try await add(status, place) } }

    let nodes =
      JobText.uploadIDs(retry: HostileJob.retry, recognized: "")
      .replacing("/commit\n", with: "/commit?case=${file.path}\n")
      + "\n    abandon: { request: { url: \"${vars.api}/uploads/${allocate.id}\" } }"
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    for name in files { try job.write("content of \(name)", to: name) }
    for run in 1...2 {
      let (command, report) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      #expect(report.totals.items.ambiguous == files.count, "\(command.stdout)")
      #expect(report.totals.items.failed == 0)
      let uploads = try await receiver.received().byName
      for name in files {
        #expect(uploads[name]?.commits == 1, "\(name) in run \(run)")
        #expect(uploads[name]?.allocations == 1, "\(name) in run \(run)")
      }
      let commits = receiver.log.filter { $0.hasPrefix("POST /uploads/") && $0.contains("/commit ") }
      #expect(commits.count == files.count, "each was sent once")
      #expect(!receiver.log.contains { $0.hasPrefix("DELETE ") }, "none was released")
    }
  }
}

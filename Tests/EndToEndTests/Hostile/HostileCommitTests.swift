import Foundation
import Testing

/// Commits, allocations and POST requests to a server that sends each hostile response once.
@Suite struct `A hostile response to a step that changes something` {
  /// Two uploads. Files that get a slow response are in a separate session with a short time limit.
  private static func uploads(_ more: String = "", retry: String = HostileJob.retry) -> String {
    let nodes = [("files", "uploads"), ("slow", "slow_uploads")].map { name, session in
      """
        \(name):
          session: \(session)
          files: { root: \(name) }
          allocate:
            session: \(session)
            request: { url: "${vars.api}/uploads?case=${file.path}", json: { name: "${file.path}" } }
            capture: { id: { json: /id } }
          transfer:
            request: { url: "${vars.api}/uploads/${allocate.id}/content?case=${file.path}" }
          commit:
            request:
              url: ${vars.api}/uploads/${allocate.id}/commit?case=${file.path}
              json: { size: "${file.size}" }
            \(more)
          \(retry)
      """
    }
    return "uploads:\n" + nodes.joined(separator: "\n")
  }

  private func job(_ receiver: ReceiverProcess, _ nodes: String) throws -> HostileJob {
    let hostile = try HostileJob(receiver, nodes)
    for one in HostileCase.all {
      let folder = one.isSlow ? "slow" : "files"
      try hostile.job.folder.write(Data("content of \(one.name)".utf8), to: "\(folder)/\(one.node)")
    }
    return hostile
  }

  @Test func `never causes an executed commit to be sent twice`() async throws {
    let receiver = try await ReceiverProcess.start()
    let hostile = try job(receiver, Self.uploads())
    for one in HostileCase.all {
      try await receiver.add(spec: one.fault("commit", match: "case=\(one.node)", "work=done"))
    }
    let (command, report) = try await hostile.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    func checkCommits(_ moment: String, _ cases: [HostileCase]) async throws {
      let uploads = try await receiver.received().byName
      for one in cases {
        #expect(uploads[one.node]?.commits == 1, "\(one.name) \(moment)")
        #expect(uploads[one.node]?.allocations == 1, "\(one.name) \(moment)")
      }
    }
    for one in HostileCase.all {
      let item = report.item(one.node)
      let state = item?.state ?? "done"
      let why = "\(one.name): \(state) \(item?.attempts.map(\.code) ?? []) \(item?.reason?.message ?? "")"
      switch one.commit {
      case .succeeds: #expect(state == "done", "\(why)")
      case .isUnknown: #expect(state == "ambiguous", "\(why)")
      case .isRefused: #expect(state == "failed", "\(why)")
      }
    }
    try await checkCommits("in the first run", HostileCase.all)
    // The next round repeats the commits that were rejected, but none whose outcome is unknown.
    try await receiver.clearFaults()
    #expect(try await hostile.run().command.status == 1)
    try await checkCommits(
      "in the second run",
      HostileCase.all.filter {
        switch $0.commit {
        case .succeeds, .isUnknown: true
        case .isRefused: false
        }
      })
  }

  @Test(arguments: ["already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }"])
  func `to a commit that can be repeated is a success only if it is complete`(_ key: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let hostile = try job(receiver, Self.uploads(key))
    // If a response can have the status that means "executed before", it has this status. An incomplete response must
    // not count as a success.
    for one in HostileCase.all {
      let status = one.name.hasPrefix("cut-") ? "status=409,times=1" : "times=1"
      try await receiver.add(spec: one.fault("commit", match: "case=\(one.node)", status))
    }
    let (_, report) = try await hostile.run()
    let uploads = try await receiver.received().byName
    for one in HostileCase.all {
      let item = report.item(one.node)
      let state = item?.state ?? "done"
      let commits = uploads[one.node]?.commits ?? 0
      let why = "\(one.name): \(state) \(item?.attempts.map(\.code) ?? []) \(commits)"
      switch one.commit {
      // ferry cannot detect a server that reports success without having done the work.
      case .succeeds: #expect(state == "done" && commits == 0, "\(why)")
      case .isUnknown, .isRefused: #expect((state == "done") == (commits == 1) && commits <= 1, "\(why)")
      }
    }
    let recovered = HostileCase.all.filter { $0.name.hasPrefix("cut-") }
    for one in recovered { #expect(uploads[one.node]?.commits == 1, "\(one.name)") }
  }

  @Test func `to an allocation fails the item or is retried, and commits nothing twice`() async throws {
    let receiver = try await ReceiverProcess.start()
    let hostile = try job(receiver, Self.uploads())
    for one in HostileCase.all {
      try await receiver.add(spec: one.fault("allocate", match: "case=\(one.node)", "times=1"))
    }
    var report = try await hostile.run().report
    var uploads = try await receiver.received().byName
    for one in HostileCase.all {
      let state = report.item(one.node)?.state ?? "done"
      let commits = uploads[one.node]?.commits ?? 0
      let why = "\(one.name): \(state) \(report.item(one.node)?.attempts.map(\.code) ?? []) \(commits)"
      switch state {
      case "done": #expect(commits == 1, "\(why)")
      // If the response to an earlier step was slow, the time limit may end the commit.
      case "ambiguous": #expect(one.isSlow && commits <= 1, "\(why)")
      default: #expect(commits == 0, "\(why)")
      }
    }
    try await receiver.clearFaults()
    report = try await hostile.run().report
    uploads = try await receiver.received().byName
    for one in HostileCase.all {
      let commits = uploads[one.node]?.commits ?? 0
      #expect(commits == 1 || (one.isSlow && commits == 0), "\(one.name): \(commits)")
    }
  }

  @Test func `never causes an executed POST to be sent twice`() async throws {
    let receiver = try await ReceiverProcess.start()
    let hostile = try job(
      receiver,
      """
      requests:
      \(HostileCase.all.map { one in
        """
          \(one.node):
            session: \(one.isSlow ? "slow" : "quick")
            request: { method: POST, url: "${vars.api}/inbox?name=\(one.node)", json: { a: 1 } }
            \(HostileJob.retry)
        """
      }.joined(separator: "\n"))
      """)
    for one in HostileCase.all {
      try await receiver.add(spec: one.fault("inbox", match: "name=\(one.node)", "work=done"))
    }
    let (command, report) = try await hostile.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let posts = Dictionary(grouping: try await receiver.received().inbox, by: \.name).mapValues(\.count)
    for one in HostileCase.all {
      let node = report.node(one.node)
      let why = "\(one.name): \(node?.state ?? "") \(node?.reason?.code ?? "")"
      #expect(posts[one.node] == 1, "\(why)")
      switch one.commit {
      case .succeeds: #expect(node?.state == "succeeded", "\(why)")
      case .isUnknown: #expect(node?.state == "ambiguous", "\(why)")
      case .isRefused: #expect(node?.state == "failed", "\(why)")
      }
    }
  }
}

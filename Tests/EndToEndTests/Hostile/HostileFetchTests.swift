import Foundation
import Testing

/// Fetches from a server that sends each hostile response once.
@Suite struct `A hostile response to a fetch` {
  private static let good = "{\"good\":true}"

  @Test func `stores only a complete 200, and otherwise keeps file and validators`() async throws {
    let receiver = try await ReceiverProcess.start()
    let names = HostileCase.all.map(\.node) + ["neighbor"]
    for name in names { try await receiver.put(Self.good + name, to: name) }
    let slow = Set(HostileCase.all.filter(\.isSlow).map(\.node))
    let hostile = try HostileJob(
      receiver,
      "fetches:\n"
        + names.map { name in
          """
            \(name):
              session: \(slow.contains(name) ? "slow" : "quick")
              request: { url: "${vars.api}/files/\(name)" }
              save_to: saved/\(name)
              \(HostileJob.noRetry)
          """
        }.joined(separator: "\n"))
    func saved(_ name: String) -> String { hostile.job.folder.text("saved/\(name)") }

    #expect(try await hostile.run().command.status == 0)
    for one in HostileCase.all {
      try await receiver.add(spec: one.fault("file", match: "/files/\(one.node)"))
    }
    let (command, report) = try await hostile.run()
    try await receiver.clearFaults()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    for one in HostileCase.all {
      let node = report.node(one.node)
      let code = node?.reason?.code ?? "none"
      let why =
        "\(one.name): \(node?.state ?? "") \(node?.result ?? "") \(code): \(node?.reason?.message ?? "")"
      switch one.fetch {
      case .stores:
        #expect(node?.state == "succeeded", "\(why)")
        #expect(node?.result == "new_data", "\(why)")
        #expect(saved(one.node) != Self.good + one.node, "\(why)")
        #expect(!saved(one.node).isEmpty, "\(why)")
      case .fails(let codes):
        #expect(node?.state == "failed", "\(why)")
        #expect(codes.contains(code), "\(why)")
        #expect(saved(one.node) == Self.good + one.node, "\(why)")
      case .timesOut(let codes):
        #expect(["failed", "waiting"].contains(node?.state), "\(why)")
        #expect(codes.contains(code), "\(why)")
        #expect(saved(one.node) == Self.good + one.node, "\(why)")
      case .waits(let codes):
        #expect(node?.state == "waiting", "\(why)")
        #expect(codes.contains(code), "\(why)")
        #expect(saved(one.node) == Self.good + one.node, "\(why)")
      }
    }
    #expect(report.node("neighbor")?.result == "no_data")
    func files() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: hostile.job.folder.path("saved")))
    }
    // Only the response that drips has the validator, the length and the bytes of a part that can be continued.
    let parts = try files().subtracting(names)
    #expect(parts.allSatisfy { $0.hasPrefix(".case-drip-end.ferry-kept-") }, "\(parts)")
    #expect(parts.count <= 1, "\(parts)")

    // The server has recovered. One run uses the remaining retries and ends the round, and the next round fetches
    // everything. Files that were kept are still current, and files that were stored are replaced.
    _ = try await hostile.run()
    let (third, recovered) = try await hostile.run()
    #expect(third.status == 0, "\(third.stdout)\(third.stderr)")
    for one in HostileCase.all {
      #expect(saved(one.node) == Self.good + one.node, "\(one.name)")
      let result = recovered.node(one.node)?.result
      switch one.fetch {
      case .stores: #expect(result == "new_data", "\(one.name)")
      case .fails, .waits, .timesOut: #expect(result == "no_data", "\(one.name)")
      }
    }
    #expect(try files() == Set(names), "no partial download remains")
  }

  @Test func `is known to these tests by its name`() async throws {
    let list = try await Command.run(Product.path("ferry-receiver"), ["--list-faults"])
    #expect(list.status == 0)
    let names = list.stdout.split(separator: "\n").filter { $0.hasPrefix("  ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(names.filter { !HostileCase.withOwnTest.contains($0) } == HostileCase.all.map(\.name))
    #expect(HostileCase.withOwnTest.isSubset(of: names))
  }

  /// The second fetch must use the same connection, and is sent after the unsolicited response has arrived.
  @Test func `on an idle connection is not the response to the next fetch`() async throws {
    let receiver = try await ReceiverProcess.start()
    try await receiver.put(Self.good, to: "b")
    try await receiver.add(spec: "file:match=/files/a,response=late-response,interval=0.1")
    try await receiver.add(spec: "file:match=/files/b,drop=before,times=1")
    let fetches = ["a", "b"].map { name in
      """
        \(name):
          session: quick
          request: { url: "${vars.api}/files/\(name)" }
          save_to: saved/\(name)
          retry: { limit: 2, initial: 1s, max: 1s }
      """
    }
    let hostile = try HostileJob(receiver, "fetches:\n" + fetches.joined(separator: "\n"))
    let (command, report) = try await hostile.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("a")?.result == "new_data")
    #expect(hostile.job.folder.text("saved/a").contains("hostile"))
    #expect(hostile.job.folder.text("saved/b") == Self.good)
  }

  /// The run consists of one fetch, whose outcome therefore determines the exit code.
  @Test(arguments: [
    ("partial-content", 1), ("not-modified", 1), ("no-content", 1), ("reset-content", 1),
    ("cut-in-header", 5),
    ("cut-in-body", 5), ("redirect-loop", 1), ("endless-header", 1), ("http-0.9", 5),
  ])
  func `ends the run with its exit code, and creates no file if there was none`(_ name: String, _ exit: Int32)
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["catalog:response=\(name)"])
    let hostile = try HostileJob(
      receiver,
      """
      fetches:
        catalog:
          session: quick
          request: { url: "${vars.api}/catalog.json" }
          save_to: saved/catalog.json
          \(HostileJob.noRetry)
      """)
    // ferry knows nothing about the file, so it sends no validator.
    for _ in 0..<2 {
      let (command, report) = try await hostile.run()
      #expect(command.status == exit, "\(command.stdout)\(command.stderr)")
      #expect(report.node("catalog")?.state != "succeeded")
      #expect(
        (try? hostile.job.folder.url.appending(path: "saved/catalog.json").checkResourceIsReachable()) != true
      )
    }
    try await receiver.clearFaults()
    let (command, report) = try await hostile.run()
    #expect(command.status == 0)
    #expect(report.node("catalog")?.result == "new_data")
  }
}

import Foundation
import Testing

/// `ferry plan` and `ferry next`: which work a run at a given time would start, and until when other work waits.
@Suite struct `A look ahead` {
  struct Plan: Decodable {
    struct Node: Decodable {
      struct Reason: Decodable {
        struct Budget: Decodable {
          var network: String
          var usedBytes: Int
          var limitBytes: Int
        }
        var code: String
        var until: String?
        var budget: Budget?
      }
      var name: String
      var state: String
      var reason: Reason?
    }
    struct Told: Decodable {
      var code: String
      var line: Int
      var message: String
    }
    var launch: String
    var at: String
    var budgets: [BudgetReport]
    var nodes: [Node]
    var errors: [Told]
  }

  struct Next: Decodable {
    struct Manifest: Decodable {
      var when: String
      var at: String?
      var reason: RunReport.Reason?
    }
    var version: Int
    var manifests: [Manifest]
  }

  /// A job with an upload that waits for power and for its budget.
  private func job(
    _ server: String = "http://127.0.0.1:9", _ top: String = "", discretionary: String = "true"
  ) throws -> Workspace {
    let text = JobText.text(server: server, JobText.puts)
      .replacing("kind: background", with: "kind: background\n    discretionary: \(discretionary)")
    return try Workspace(text + top)
  }

  private static let budgets =
    "budgets:\n"
    + ["wifi", "wired", "cellular"].map {
      "  \($0): { limit: 100kB, per: day, time_zone: Europe/Berlin }\n"
    }.joined()

  @Test func `shows how much of the budget is used, and until when excess files wait`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, Self.budgets)
    try job.write(String(repeating: "a", count: 60_000), to: "a.txt")
    #expect(try await job.run("--network", "wifi").command.status == 0)
    try job.write(String(repeating: "b", count: 60_000), to: "b.txt")
    let plan = try await job.ferry("plan", "job.yaml", "--network", "wifi", "--format", "json").json(
      Plan.self)
    let wifi = try #require(plan.budgets.first { $0.network == "wifi" })
    #expect(wifi.usedBytes > 60_000 && wifi.usedBytes < 80_000 && wifi.limitBytes == 100_000)
    #expect(wifi.window.per == "day" && wifi.window.timeZone == "Europe/Berlin")
    #expect(plan.budgets.first { $0.network == "wired" }?.usedBytes == 0)
    let reason = try #require(plan.nodes.first { $0.name == "files" }?.reason)
    #expect(reason.code == "budget" && reason.until == wifi.window.until)
    #expect(reason.budget?.network == "wifi" && reason.budget?.usedBytes == wifi.usedBytes)
    let text = try await job.ferry("plan", "job.yaml", "--network", "wifi")
    #expect(text.stdout.contains("waiting for the budget of wifi networks"))
    // The budgets of other networks and of the next day have room.
    for more in [["--network", "wired"], ["--network", "wifi", "--at", wifi.window.until]] {
      let command = try await job.start(["plan", "job.yaml", "--format", "json"] + more).end()
      #expect(try command.json(Plan.self).nodes.first { $0.name == "files" }?.state == "run")
    }
    // The run reports the same.
    let (command, report) = try await job.run("--network", "wifi")
    #expect(command.status == 8)
    #expect(report.node("files")?.reason?.code == "budget")
  }

  @Test func `shows times in the zone of the given time`() async throws {
    let job = try job("http://127.0.0.1:9", Self.budgets)
    let zoned = try await job.ferry(
      "plan", "job.yaml", "--network", "wifi", "--at", "2026-03-28T23:30[Europe/Berlin]")
    #expect(zoned.stdout.contains("wifi: 0 B of 100.0 kB used, window ends at 2026-03-29T00:00:00+01:00"))
    // The clocks are set forward on this day, so its window is an hour shorter.
    let local = try await job.ferry(
      "plan", "job.yaml", "--network", "wifi", "--at", "2026-03-29T12:00",
      environment: ["TZ": "Europe/Berlin"])
    #expect(local.stdout.contains("window ends at 2026-03-30T00:00:00+02:00"))
    let utc = try await job.ferry(
      "plan", "job.yaml", "--at", "2026-03-29T12:00:00+02:00", "--format", "json")
    #expect(try utc.json(Plan.self).at == "2026-03-29T10:00:00.000Z")
    for wrong in ["tomorrow", "2026-02-30T10:00", "2026-03-29T10:00[Europe/Atlantis]"] {
      let command = try await job.ferry("plan", "job.yaml", "--at", wrong)
      #expect(command.status == 2 && command.stdout == "" && command.stderr.contains("help: "))
    }
  }

  @Test func `describes the launch that is named`() async throws {
    let job = try job(discretionary: "inferred")
    try job.write("one", to: "1.txt")
    for (kind, state) in [("foreground", "run"), ("fetch", "waiting")] {
      let command = try await job.ferry(
        "plan", "job.yaml", "--power", "battery", "--launch", kind, "--format", "json")
      let plan = try command.json(Plan.self)
      #expect(plan.launch == kind)
      #expect(plan.nodes.first { $0.name == "files" }?.state == state)
    }
  }

  @Test func `exits with 3 if a file is larger than every budget`() async throws {
    let job = try job("http://127.0.0.1:9", Self.budgets)
    try job.write(String(repeating: "a", count: 100_001), to: "big.bin")
    try job.write("small", to: "small.txt")
    let json = try await job.ferry("plan", "job.yaml", "--network", "wifi", "--format", "json")
    #expect(json.status == 3)
    let told = try #require(try json.json(Plan.self).errors.first)
    #expect(told.code == "F0801" && told.message.contains("'big.bin' (100.0 kB)"))
    let line = job.folder.text("job.yaml").split(separator: "\n", omittingEmptySubsequences: false)[
      told.line - 1]
    #expect(line.contains("limit: 100kB"))
    #expect(json.stderr.contains("error: 'big.bin' (100.0 kB) is larger than the budget of any network"))
    // An upload that has started may finish, whatever its size.
    try job.write(
      manifest: job.folder.text("job.yaml").replacing("limit: 100kB", with: "cutoff: soft, limit: 100kB"))
    #expect(try await job.ferry("plan", "job.yaml", "--network", "wifi").status == 0)
  }

  @Test func `exits with 3 if the machine does not know a budget's time zone`() async throws {
    let job = try job(
      "http://127.0.0.1:9", "budgets: { wifi: { limit: 1MB, per: day, time_zone: Europe/Atlantis } }\n")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.status == 3)
    #expect(plan.stderr.contains("[F0802]"))
  }

  @Test func `finds the next time with work`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, JobText.catalog("interval: { minimum: 1h }", "needs: [files]") + "\n")
    try job.write("one", to: "1.txt")
    #expect(try await job.ferry("next", "job.yaml").stdout == "now\n")
    let battery = try await job.ferry("next", "job.yaml", "--power", "battery")
    #expect(battery.status == 0)
    #expect(
      battery.stdout
        == "nothing to do until something changes: waiting for external power: session 'uploads' is discretionary\n"
    )
    #expect(try await job.run("--power", "external").command.status == 0)
    let json = try await job.ferry("next", "job.yaml", "--format", "json").json(Next.self)
    #expect(json.version == 1 && json.manifests.first?.when == "later")
    #expect(json.manifests.first?.reason?.code == "not_due")
    let moment = try #require(json.manifests.first?.at)
    let shown = try await job.ferry("next", "job.yaml", environment: ["TZ": "Asia/Kathmandu"]).stdout
    #expect(shown.hasSuffix("+05:45\n"))
    #expect(try await job.ferry("next", "job.yaml", "--at", moment).stdout == "now\n")
    // With two manifests, the output has a line for each.
    try job.folder.write(Data(job.folder.text("job.yaml").utf8), to: "other.yaml")
    let both = try await job.ferry("next", "job.yaml", "other.yaml").stdout
    #expect(both.hasPrefix("job.yaml: 20") && both.contains("\nother.yaml: 20"))
  }

  @Test func `prints a crontab line for the next time`() async throws {
    let job = try job()
    try job.write("one", to: "1.txt")
    let place = try job.folder.makeFolder("it's 100%")
    _ = try job.folder.makeFolder("it's 100%/files")
    try job.folder.write(Data("1".utf8), to: "it's 100%/files/1.txt")
    try job.folder.write(Data(job.folder.text("job.yaml").utf8), to: "it's 100%/job.yaml")
    let path = place.appending(path: "job.yaml").path(percentEncoded: false)
    let line = try await job.ferry("next", path, "--format", "cron", "--var", "api=http://a.example/%20")
      .stdout
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
    #expect(fields.count == 6 && fields[..<4].allSatisfy { Int($0) != nil } && fields[4] == "*")
    let command = try #require(fields.last).dropLast()
    #expect(!command.replacing("\\%", with: "").contains("%"))
    // Like cron, the test removes the escapes and passes the rest to a shell, in which `ferry` is a function that
    // prints its arguments.
    let shell = "ferry() { pwd; printf '<%s>\\n' \"$@\"; }; " + command.replacing("\\%", with: "%")
    let words = try await Command.run("sh", ["-c", shell])
    #expect(words.status == 0, "\(words.stderr)")
    let folder = place.resolvingSymlinksInPath().path(percentEncoded: false)
    #expect(
      words.stdout
        == "\(folder.hasSuffix("/") ? String(folder.dropLast()) : folder)\n<run>\n<job.yaml>\n<--state>\n<\(job.state)>\n"
        + "<--var>\n<api=http://a.example/%20>\n")
    // cron uses the machine's time zone, so the crontab line must be in that zone.
    let later = try await job.ferry(
      "next", "job.yaml", "--format", "cron", "--at", "2026-03-29T10:04:30Z",
      environment: ["TZ": "Asia/Tokyo"])
    let date = try await Command.run(
      "env", ["-u", "TZ", "date", "-d", "2026-03-29T10:06:00Z", "+%-M %-H %-d %-m * "])
    #expect(later.stdout.hasPrefix(date.stdout.trimmingCharacters(in: .newlines)))
    let waiting = try await job.ferry("next", "job.yaml", "--format", "cron", "--power", "battery")
    #expect(waiting.status == 0 && waiting.stdout == "")
    #expect(waiting.stderr.contains("waiting for external power"))
  }
}

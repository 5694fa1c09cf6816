import Foundation
import Testing

/// The HTML report in headless Chromium.
@Suite struct `The HTML report` {
  /// What Browser/report-page.py prints.
  private struct Found: Decodable {
    var problems: [String]
    var requests: [String]
    var seconds: Double
    var verdict: String
    var cards: [String]
    var lanes: [String]
    var axes: [String]
    var overflow: Bool
    var items: String?
    var elements: Int?
    var searched: Searched?
    var sorted: [[String]]?
    var filtered: [String: String]?
    var unfolded: String?
    var last: String?
    var folded: Bool?
  }

  private struct Searched: Decodable {
    var note: String
    var rows: [[String]]

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      note = try list.decode(String.self)
      rows = try list.decode([[String]].self)
    }
  }

  /// Opens a page. If there is no browser, prints a message and returns `nil`, or throws if the environment
  /// is that of CI.
  private func open(_ path: String, searching query: String) async throws -> Found? {
    let chromium = RunningCommand.find("chromium") ?? RunningCommand.find("google-chrome")
    guard let chromium, let python = PythonModules.python(with: ["playwright"]) else {
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: no HTML report is opened: chromium or playwright is not there; run scripts/setup test\n\n"
            .utf8))
      if ProcessInfo.processInfo.environment["CI"] == "true" {
        throw CommandFailure(description: "chromium or Python's playwright is not there")
      }
      return nil
    }
    let script = Product.source("Tests/EndToEndTests/Browser/report-page.py")
    let command = try await Command.run(
      python, [script, path, query], environment: ["FERRY_CHROMIUM": chromium])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    let found = try JSONDecoder().decode(Found.self, from: Data(command.stdout.utf8))
    #expect(found.problems.isEmpty, "\(found.problems)")
    #expect(found.requests.count == 1, "the page loads nothing: \(found.requests)")
    #expect(!found.overflow)
    return found
  }

  @Test func `shows a run with hostile names, failures and retries, and its table works`() async throws {
    let receiver = try await ReceiverProcess.start(
      faults: ["file:match=files/refused,status=403", "file:match=files/flaky,status=500,times=1"])
    let nodes = """
      uploads:
        files:
          session: uploads
          files: { root: files }
          transfer: { request: { url: "${vars.api}/files/${file.path | url}" } }
          \(JobText.retry)
      requests:
        publish:
          session: quick
          needs: [files]
          request: { url: "${vars.api}/done", json: {} }
      """
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    let names = [
      "<script>alert(1)<", "</script><script>alert(2)</script>".replacing("/", with: "-"), "a&amp;b",
      "\"quoted\"", "line\nbreak",
      "refused.txt", "flaky.txt", "plain.txt",
    ]
    for (index, name) in names.enumerated() {
      try job.write(String(repeating: "x", count: index + 1), to: name)
    }
    let (command, _) = try await job.run("--items", "all", "--report", "html=report.html")
    #expect(command.status == 1, "\(command.stderr)")
    guard let found = try await open(job.folder.path("report.html"), searching: "403") else { return }
    #expect(found.verdict.hasPrefix("Not everything was delivered: 7 items delivered"), "\(found.verdict)")
    #expect(
      found.cards == ["What did not succeed", "Timeline", "Throughput", "Dependencies", "Nodes", "Items"],
      "\(found.cards)")
    #expect(found.items == "8 items")
    #expect(found.searched?.note == "1 of 8 items")
    #expect(found.searched?.rows.first?.first == "refused.txt")
    #expect(found.sorted == [["8 B", "7 B", "6 B"], ["1 B", "2 B", "3 B"]])
    #expect(
      found.filtered == [
        "all states": "8 items", "done (7)": "7 of 8 items", "failed (1)": "1 of 8 items",
        "with failed attempts": "2 of 8 items",
      ], "\(found.filtered ?? [:])")
    #expect(found.unfolded?.contains("Path") == true && found.folded == true)
    // `ferry report` creates the same page from the stored report.
    let printed = try await job.ferry("report", "--format", "html")
    #expect(printed.stdout == job.folder.text("report.html"))
  }

  @Test func `opens with 100,000 items within two seconds`() async throws {
    let job = try Workspace("version: 1\nname: e2e\n")
    _ = try await job.ferry("run", "job.yaml", "--report", "small.json")
    var report = job.folder.text("small.json")
    let items = (0..<100_000).map { number in
      "    {\"attempts\":[],\"duration_seconds\":0.01,\"ended_at\":\"2026-11-24T10:00:01.000Z\",\"node\":\"photos\","
        + "\"path\":\"folder/\(number).jpg\",\"requests\":1,\"size\":\(number),\"started_at\":\"2026-11-24T10:00:00.000Z\","
        + "\"state\":\"done\"}"
    }
    report = report.replacing(
      "  \"items\": []", with: "  \"items\": [\n\(items.joined(separator: ",\n"))\n  ]")
    let id = try RunReport.decode(Data(report.utf8)).run.id
    try Data(report.utf8).write(to: URL(filePath: job.state + "/runs/\(id)/report.json"))
    let page = try await job.ferry("report", "--format", "html")
    #expect(page.status == 0, "\(page.stderr)")
    try job.folder.write(Data(page.stdout.utf8), to: "large.html")
    guard let found = try await open(job.folder.path("large.html"), searching: "99999") else { return }
    #expect(found.items == "100,000 items")
    #expect(found.searched?.note == "1 of 100,000 items")
    // Only the visible rows are in the document.
    #expect((found.elements ?? 0) < 60)
    #expect(found.last == "folder/99999.jpg")
    #expect(found.seconds < 2, "it took \(found.seconds) seconds")
  }

  @Test func `also shows a simulation of several policies`() async throws {
    let job = try Workspace(
      JobText.text(
        server: "http://127.0.0.1:1",
        JobText.puts.replacing("transfer:", with: "batch: { max_items: 1 }\n    transfer:")))
    for index in 0..<6 { try job.write("x", to: "\(index)") }
    let plan = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--launch", "background", "--compare",
      "none,before_start,after_completion", "--format", "html")
    #expect(plan.status == 0, "\(plan.stderr)")
    try job.folder.write(Data(plan.stdout.utf8), to: "plan.html")
    guard let found = try await open(job.folder.path("plan.html"), searching: "") else { return }
    #expect(found.cards.first == "Policies of the resume delay")
    #expect(found.cards.filter { $0 == "Timeline" }.count == 3)
    #expect(found.cards.filter { $0 == "Resume delay" }.count == 2, "\(found.cards)")
    #expect(found.verdict.contains("With the policy none, the round is complete after"))
    // The policies take different times, but their charts have the same axis.
    #expect(found.axes.count == 3 && Set(found.axes).count == 1, "\(found.axes)")
  }

  @Test func `shows each node of a simulation above the same node of the run`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:match=/1,status=403", "file:delay=0.1"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for index in 0..<6 { try job.write("x", to: "\(index)") }
    let plan = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--format", "json")
    // A plan in JSON can come from anywhere.
    let kind = #""kind" : "upload","#
    let reason = #""reason" : {"code":"stopped","message":"</script><b>"},"#
    let hostile = plan.stdout.replacing(kind, with: kind + reason)
    try job.folder.write(Data(hostile.utf8), to: "plan.json")
    #expect(try await job.ferry("run", "job.yaml").status == 1)
    let page = try await job.ferry("report", "--plan", "plan.json", "--format", "html")
    #expect(page.status == 0, "\(page.stderr)")
    try job.folder.write(Data(page.stdout.utf8), to: "report.html")
    guard let found = try await open(job.folder.path("report.html"), searching: "403") else { return }
    #expect(
      found.cards.prefix(3) == ["What did not succeed", "Planned → actual", "Timeline"], "\(found.cards)")
    #expect(found.lanes.suffix(2) == ["files, simulated", "files"], "\(found.lanes)")
  }
}

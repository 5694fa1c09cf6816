import Foundation
import Testing

/// Resume delays and execution windows, with seconds in place of hours, and the plan that predicts them.
@Suite("A launch in the background")
struct DelayTests {
  private func job(_ receiver: ReceiverProcess, policy: String, batch: Int, more: String = "") throws
    -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: seconds
      resume_delay: { policy: \(policy), initial: 1s, factor: 2, max: 1h }
      \(more)
      sessions:
        uploads: { kind: background, on_events: [./told, "a word"] }
      uploads:
        files:
          session: uploads
          files: { root: files }
          batch: { max_items: \(batch) }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }

      """)
    for index in 0..<5 { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  private struct Simulation: Decodable {
    struct Entry: Decodable {
      struct Forecast: Decodable {
        var seconds: Double
        var resumes: Int
        var isThrough: Bool
      }
      var policy: String
      var forecast: Forecast
    }
    var forecasts: [Entry]
  }

  private func foretold(_ job: Workspace) async throws -> Simulation.Entry.Forecast {
    let plan = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "10MB", "--latency", "2ms", "--launch", "background",
      "--format", "json")
    #expect(plan.status == 0, "\(plan.stderr)")
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try #require(try decoder.decode(Simulation.self, from: Data(plan.stdout.utf8)).forecasts.first)
      .forecast
  }

  @Test(arguments: [
    ("before_start", 1, 5), ("after_completion", 1, 5), ("before_start", 5, 1), ("after_completion", 5, 1),
    ("none", 1, 0), ("none", 5, 0),
  ])
  func `takes as long as the plan predicts`(policy: String, batch: Int, resumes: Int) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, policy: policy, batch: batch)
    let plan = try await foretold(job)
    #expect(plan.isThrough && plan.resumes == resumes)
    let (command, report) = try await job.run("--launch", "background", "--wait", "1m")
    #expect(command.status == 0)
    #expect(report.totals.resumes == resumes)
    let took = try seconds(of: report.run)
    // If a launch takes less than a second, its duration depends on the machine and not on the delay.
    if plan.seconds > 1 {
      #expect(took >= plan.seconds && took <= plan.seconds * 1.1, "\(took), \(plan.seconds)")
    }
  }

  /// The duration of a run that takes less than a minute.
  private func seconds(of run: RunReport.Run) throws -> Double {
    let begin = try #require(Double(run.startedAt.suffix(7).dropLast()))
    let end = try #require(Double(run.endedAt.suffix(7).dropLast()))
    return (end - begin + 60).truncatingRemainder(dividingBy: 60)
  }

  @Test func `exits with 8 and reports when it continues, and continues then`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, policy: "before_start", batch: 3)
    let (first, report) = try await job.run("--launch", "background")
    #expect(first.status == 8)
    #expect(report.totals.items.done == 3)
    #expect(report.node("files")?.reason?.code == "delay")
    #expect(report.run.deferredUntil != nil)
    #expect(first.stdout.contains("the remaining work can continue at"))
    #expect(try await job.run("--launch", "background", "--wait", "1m").command.status == 0)
  }

  @Test func `starts on_events with the session, and at the end with the report`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, policy: "none", batch: 2)
    try job.folder.write(
      Data("#!/bin/sh\necho \"$1 $FERRY_SESSION $FERRY_REPORT\" >> told.txt\n".utf8), to: "told")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    let (command, report) = try await job.run()
    #expect(command.status == 0)
    let lines = try String(contentsOfFile: job.folder.path("told.txt"), encoding: .utf8).split(
      separator: "\n")
    #expect(lines.count == report.run.onEvents?.count && (1...3).contains(lines.count), "\(lines)")
    for line in lines { #expect(line.hasPrefix("a word seconds.uploads ")) }
    let words = try #require(lines.last).split(separator: " ")
    #expect(FileManager.default.fileExists(atPath: String(words.last ?? "")))
  }

  @Test func `keeps on_events pending if its command cannot be started`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, policy: "none", batch: 5)
    let first = try await job.run().command
    #expect(first.status == 0)
    #expect(
      first.stderr.contains("warning: on_events of session 'uploads': ./told cannot be started: "),
      "\(first.stderr)")
    #expect(first.stderr.contains("it stays pending"), "\(first.stderr)")
    #expect(try await job.run().command.stderr.contains("it stays pending"))
  }

  @Test func `stops requests of default sessions at the end of its window, long before they would complete`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    let job = try Workspace(
      """
      version: 1
      name: window
      execution_window: { background: 1s }
      sessions: { quick: {} }
      uploads:
        files:
          session: quick
          files: { root: files }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }

      """)
    for index in 0..<3 { try job.write("file \(index)", to: "\(index).txt") }
    let (command, report) = try await job.run("--launch", "background")
    #expect(command.status == 10)
    #expect(report.items.map(\.reason?.code) == ["expired", "expired", "expired"])
    let lasted = try seconds(of: report.run)
    #expect(lasted >= 0.9 && lasted < 5, "\(lasted)")
    try await receiver.clearFaults()
    #expect(try await job.run("--launch", "continuous").command.status == 0)
  }
}

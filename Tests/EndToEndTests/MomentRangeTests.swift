import Foundation
import Testing

/// Times at the ends of the range that ferry can represent, and beyond them.
@Suite struct `A time in the distant past or future` {
  private func job() throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: m
      sessions: { s: { kind: background, identifier: e2e.moments } }
      uploads:
        u:
          session: s
          files: { root: files, include: ["*.txt"] }
          transfer: { request: { url: "http://127.0.0.1:9/${file.name}" } }
      """)
    try job.write("hello", to: "a.txt")
    return job
  }

  private let looks = [
    ["next"], ["next", "--format", "cron"], ["plan"], ["plan", "--simulate", "--bandwidth", "1MB"],
  ]

  @Test(arguments: [
    "2255-01-01T00:00[Europe/Berlin]", "2262-04-11T23:47:16Z", "2262-04-12T01:47[Europe/Berlin]",
    "1677-09-21T00:12:44Z", "1677-09-22T00:00[Europe/Berlin]",
  ])
  func `is accepted by plan and next if it can be represented`(_ moment: String) async throws {
    let job = try job()
    for look in looks {
      let end = try await job.start(look + ["job.yaml", "--at", moment]).end()
      #expect(end.status == 0, "\(look) \(end.stderr)")
    }
  }

  @Test(arguments: [
    "2262-04-11T23:47:17Z", "2262-04-12T02:00[Europe/Berlin]", "9999-12-31T23:59[Europe/Berlin]",
    "0000-01-01T00:00Z", "1677-09-21T00:12:42Z",
  ])
  func `is rejected with the range if it cannot be represented`(_ moment: String) async throws {
    let job = try job()
    for look in looks {
      let end = try await job.start(look + ["job.yaml", "--at", moment]).end()
      #expect(end.status == 2)
      #expect(
        end.stderr.contains(
          "'\(moment)' is outside the range of times that ferry supports\n"
            + "help: write a time from 1677-09-21T00:12:44Z to 2262-04-11T23:47:16Z"), "\(end.stderr)")
    }
    let launches = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--launches",
      "2026-01-01T00:00Z,9999-12-31T23:59Z")
    #expect(launches.status == 2)
    #expect(launches.stderr.contains("'9999-12-31T23:59Z' is outside the range"), "\(launches.stderr)")
  }

  @Test func `is refused in a timeline, and so is a day that does not exist`() async throws {
    let job = try job()
    for (moment, words) in [
      ("2026-02-31T00:00", "t.yaml: '2026-02-31T00:00' is not a valid time"),
      (
        "9999-12-31T23:59Z",
        "t.yaml: '9999-12-31T23:59Z' is outside the range of times that ferry supports"
      ),
    ] {
      try job.folder.write(Data("timeline: [{ from: \(moment), network: none }]\n".utf8), to: "t.yaml")
      let end = try await job.ferry(
        "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--conditions", "t.yaml")
      #expect(end.status == 2)
      #expect(end.stderr.contains(words), "\(end.stderr)")
    }
  }

  /// tmpfs allows sparse files of nearly 8 EiB. The total size of 1,024 files of the maximum size exceeds 64 bits.
  @Test(.enabled("a tmpfs at /dev/shm is needed") { FileManager.default.isWritableFile(atPath: "/dev/shm") })
  func `is not the only large number: sums of sizes stop at the maximum`() async throws {
    let job = try job()
    let folder = URL(filePath: "/dev/shm/ferry-e2e-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    for number in 1...1_025 {
      let file = folder.appending(path: "\(number).txt").path
      #expect(FileManager.default.createFile(atPath: file, contents: nil))
      try #require(truncate(file, number == 1_025 ? .max - 4095 : 1 << 53) == 0)
    }
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: text.replacing("root: files", with: "root: \(folder.path)"))
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.status == 0)
    #expect(plan.stdout.contains("1024 items, 9223372036.9 GB"), "\(plan.stdout)")
    #expect(plan.stdout.contains("1025.txt: its size is 9223372036854771712 bytes"), "\(plan.stdout)")
    let forecast = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "8388607TiB", "--for", "36500d")
    #expect(forecast.status == 0, "\(forecast.stderr)")
  }
}

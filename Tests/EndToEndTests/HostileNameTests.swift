import Foundation
import Testing

/// File names in the listing, the journal, URLs, the report, a resumed run and `after: move_to`. docs/files.md contains
/// the table of these names.
@Suite struct `A hostile name` {
  /// The results for all names, which are collected once.
  struct Delivery: Sendable {
    var log: [String]
    var received: Received
    /// The items that the server rejected, by the Base64 of their paths.
    var refused: [String: RunReport.Item]
    /// The rows of the journal by path in hexadecimal: the state, and the outcome of the `after` action.
    var rows: [String: [Int]]
    var job: Workspace
  }

  /// One job for all names. The second run resumes where the first one stopped.
  private static let delivery = Task {
    let receiver = try await ReceiverProcess.start()
    let nodes = JobText.puts + "\n    after: { move_to: sent/ }"
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, nodes))
    let root = job.folder.path("files")
    for name in HostileName.all {
      try TestFiles.write(name.content, to: Array(root.utf8) + [0x2F] + name.bytes)
    }
    let first = try await job.run("--limit", "20")
    #expect([0, 1].contains(first.command.status), "\(first.command.stdout)\(first.command.stderr)")
    #expect(first.report.totals.items.done <= 20)
    let second = try await job.run()
    // The receiver rejects names that are not UTF-8.
    #expect(second.command.status == 1, "\(second.command.stdout)\(second.command.stderr)")
    var refused: [String: RunReport.Item] = [:]
    for item in first.report.items + second.report.items where item.state == "failed" {
      refused[item.pathBase64 ?? ""] = item
    }
    // Outside of the URL's path, the receiver accepts names that are not UTF-8.
    try job.write(
      manifest: JobText.text(
        server: receiver.url, connections: 2,
        nodes.replacing("/files/${file.path}", with: "/files/again?${file.path}")))
    let third = try await job.run()
    #expect(third.command.status == 0, "\(third.command.stdout)\(third.command.stderr)")
    let script = """
      import json, sqlite3, sys
      rows = sqlite3.connect(sys.argv[1]).execute("SELECT hex(path), state, after FROM item").fetchall()
      print(json.dumps({path: [state, after] for path, state, after in rows}))
      """
    let journal = try await Command.run("python3", ["-c", script, job.state + "/sessions/e2e.uploads.db"])
    return Delivery(
      log: receiver.log, received: try await receiver.received(), refused: refused,
      rows: try JSONDecoder().decode([String: [Int]].self, from: Data(journal.stdout.utf8)), job: job)
  }

  @Test(arguments: HostileName.all)
  func `reaches the server unchanged`(_ name: HostileName) async throws {
    let delivery = try await Self.delivery.value
    let isText = name.text != nil
    // The status is 204 if the receiver treats the name as an existing one.
    let statuses = isText ? [201, name.isRespelled ? 204 : 201] : [400]
    let lines = statuses.map { "PUT /files/\(name.encoded) \($0)" }
    #expect(delivery.log.filter(lines.contains).count == 1)
    let hex = name.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    // The item is done, and its file was moved.
    #expect(delivery.rows[hex] == [3, 3])
    if let text = name.text, !name.isRespelled {
      let file = delivery.received.files.first { Array($0.name.utf8) == Array(text.utf8) }
      #expect(file?.puts == 1)
      #expect(file?.size == name.content.count)
    } else if !isText {
      let item = delivery.refused[Data(name.bytes).base64EncodedString()]
      #expect(item?.reason?.status == 400)
    }
    let root = Array(delivery.job.folder.path("files").utf8)
    #expect(Self.read(root + Array("/sent/".utf8) + name.bytes) == name.content)
    #expect(Self.read(root + [0x2F] + name.bytes) == nil)
  }

  @Test func `is in the documentation`() throws {
    let page = try String(contentsOf: Product.package.appending(path: "docs/files.md"), encoding: .utf8)
    for name in HostileName.all {
      #expect(page.contains("| \(name.what) | `\(name.encoded)` |"), "\(name.what)")
    }
  }

  @Test func `is named by the command that ferry prints, in any folder and shell`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:drop=before"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    let root = job.folder.path("files")
    for name in HostileName.all {
      try TestFiles.write(name.content, to: Array(root.utf8) + [0x2F] + name.bytes)
    }
    let report = try await job.run().report
    #expect(report.totals.items.ambiguous == HostileName.all.count)
    let commands = try #require(report.items.last?.ambiguity).resolve.count
    #expect(commands == 2 && report.items.count == HostileName.all.count)
    let script = report.items.compactMap { $0.ambiguity?.resolve.first }.joined(separator: "\n")
    let elsewhere = try TemporaryFolder()
    let shell = try RunningCommand(
      "/bin/sh", ["-ec", "ferry() { '\(Product.path("ferry"))' \"$@\"; }\n\(script)"], in: elsewhere.url)
    let resolved = await shell.end()
    #expect(resolved.status == 0, "\(resolved.stderr)")
    #expect(resolved.stdout.split(separator: "\n").count { $0.hasSuffix(": done") } == HostileName.all.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.url.path).isEmpty)
    #expect(try await job.run().report.totals.items.done == 0)
    #expect(try await receiver.received().requests == HostileName.all.count)
  }

  private static func read(_ path: [UInt8]) -> Data? {
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY)
    guard file >= 0 else { return nil }
    // If the file cannot be read, its content differs from the expected one.
    return try? FileHandle(fileDescriptor: file, closeOnDealloc: true).readToEnd()
  }
}

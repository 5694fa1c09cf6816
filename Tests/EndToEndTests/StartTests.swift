import Foundation
import Testing

/// Errors that are detected before any work. Each has its exit code, and leaves no files behind.
@Suite struct `A command that starts` {
  private let job: Workspace

  init() throws { job = try Workspace(JobText.text(server: "http://127.0.0.1:9", JobText.puts)) }

  /// If the name were converted to text, it could name another folder, which may belong to another user.
  @Test func `in a folder whose name is not UTF-8 is refused`() async throws {
    let job = try Workspace("version: 1\n")
    let script = "name=$(printf 'b\\377') && mkdir \"$name\" && cd \"$name\" && exec \"$0\" check ../job.yaml"
    let end = try await job.start(["-c", script, Product.path("ferry")], program: "sh").end()
    #expect(end.status == 2 && end.stderr.contains("is not UTF-8"), "\(end.stdout)\(end.stderr)")
  }

  @Test func `without a state folder shows how to set one, and exits with 2`() async throws {
    let command = try await Command.run(
      "env",
      [
        "-u", "HOME", "-u", "XDG_STATE_HOME", "-u", "FERRY_STATE", Product.path("ferry"), "run",
        job.folder.path("job.yaml"),
      ],
      environment: ["E2E_SECRET": "a"])
    #expect(command.status == 2)
    for word in ["HOME", "FERRY_STATE", "--state"] { #expect(command.stderr.contains(word)) }
  }

  @Test func `without its manifest names the file, and exits with 2`() async throws {
    for name in ["run", "plan", "check"] {
      let command = try await job.ferry(name, "nowhere.yaml")
      #expect(command.status == 2, "\(name)")
      #expect(command.stderr.contains("nowhere.yaml"), "\(name)")
    }
  }

  @Test func `with an invalid manifest reports all errors, and exits with 3`() async throws {
    try job.write(manifest: "version: 1\nnam: x\nsession: {}\n")
    for name in ["run", "plan"] {
      let command = try await job.ferry(name, "job.yaml")
      #expect(command.status == 3, "\(name)")
      #expect(command.stderr.contains("job.yaml:2:1: error:"), "\(name)")
      #expect(command.stderr.contains("job.yaml:3:1: error:"), "\(name)")
      #expect(command.stderr.contains("help:"), "\(name)")
    }
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test(arguments: [
    ["check"], ["plan"], ["plan", "--effective"], ["next"], ["run"], ["run", "--dry-run"],
    ["run", "--fresh"],
    ["submit"],
  ])
  func `with a manifest that has an unknown word gives its place, and exits with 3`(
    _ words: [String]
  ) async throws {
    let text = JobText.text(server: "http://127.0.0.1:9", JobText.puts)
    try job.write(
      manifest: text.replacing(
        "    kind: background\n",
        with: "    kind: background\n    cache_policy: return_cache_data\n"))
    let upload = words == ["submit"] ? ["files"] : []
    let command = try await job.start(words + ["job.yaml"] + upload).end()
    #expect(command.status == 3)
    let told = (command.stdout + command.stderr).split(separator: "\n")
    let error = "found 'return_cache_data' [F0302]"
    let line = try #require(told.first { $0.hasSuffix(error) }, "\(told)")
    #expect(line.wholeMatch(of: /job\.yaml:\d+:19: .*/) != nil, "\(line)")
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test func `without its secret names the variable, and exits with 2`() async throws {
    let command = try await job.ferry("run", "job.yaml", environment: ["E2E_SECRET": ""])
    #expect(command.status == 2)
    #expect(command.stderr.contains("E2E_SECRET"))
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test func `without its files' folder exits with 2, and is not an interrupted run afterwards`() async throws
  {
    let text = JobText.text(server: "http://127.0.0.1:9", JobText.puts)
    try job.write(manifest: text.replacing("root: files", with: "root: nowhere"))
    for _ in 0..<2 {
      let command = try await job.ferry("run", "job.yaml")
      #expect(command.status == 2)
      #expect(command.stderr.contains("nowhere"))
      #expect(!command.stderr.contains("interrupted"))
    }
    for command in ["run", "plan", "next"] {
      let told = try await job.ferry(command, "job.yaml").stderr
      #expect(told.contains("\nhelp: make it a readable folder, or change the upload's 'root'"), "\(told)")
      #expect(told.components(separatedBy: "cannot list").count == 2, "\(told)")
    }
  }

  @Test(arguments: [
    (
      ["rnu", "job.yaml"],
      "ferry has no command 'rnu'\nhelp: did you mean 'run'? 'ferry --help' lists the commands"
    ),
    (["fly"], "ferry has no command 'fly'\nhelp: 'ferry --help' lists the commands"),
    (
      ["journal", "chek", "--format", "json"],
      "ferry journal has no command 'chek'\nhelp: did you mean 'check'? 'ferry journal --help' lists the commands"
    ),
  ])
  func `whose name is misspelled suggests the right one, and exits with 2`(
    _ arguments: [String], _ told: String
  ) async throws {
    let command = try await job.start(arguments).end()
    #expect(command.status == 2)
    #expect(command.stdout.isEmpty && command.stderr == "ferry: \(told)\n")
  }

  @Test(arguments: [
    ["run"], ["run", "job.yaml", "--limit", "-1"], ["run", "job.yaml", "--var", "x"], ["fly"],
    ["run", "job.yaml", "--launch", "moon"], ["resume", "--max-duration"],
  ])
  func `with invalid arguments exits with 2`(_ arguments: [String]) async throws {
    let command = try await job.start(arguments).end()
    #expect(command.status == 2)
    #expect(!command.stderr.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test(arguments: [
    ("run", "30", "30ms, 30s, 30m"), ("run", "1.5h", "write '90m'"), ("resume", "5x", "ms, s, m"),
  ])
  func `with an invalid duration shows the syntax, and exits with 2`(
    _ command: String, _ duration: String, help: String
  ) async throws {
    let manifest = command == "run" ? ["job.yaml"] : []
    let ended = try await job.start([command] + manifest + ["--max-duration", duration]).end()
    #expect(ended.status == 2)
    #expect(ended.stderr.contains("--max-duration"), "\(ended.stderr)")
    #expect(ended.stderr.contains(help), "\(ended.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.state))
    #expect(try await job.ferry("help", command).stdout.contains("ms, s, m, h, d or w"))
  }

  private static let long = String(repeating: "a", count: 300)

  @Test(arguments: [
    ["reset", ""], ["cancel", ""], ["status", ""], ["orphans", ""], ["orphans", "", "--forget", "all"],
    ["resolve", "--all", "done", "--session", ""], ["journal", "export", ""], ["reset", long],
    ["cancel", long], ["status", long], ["orphans", long], ["resume", long], ["resume", ""],
    ["resume", "nosuch"],
  ])
  func `for an unknown session exits with 2`(_ arguments: [String]) async throws {
    let command = try await job.start(arguments).end()
    #expect(command.status == 2, "\(command.stdout)\(command.stderr)")
    #expect(command.stderr.hasPrefix("ferry: there is no "), "\(command.stderr)")
    #expect(command.stderr.contains("\nhelp: this state folder contains no session"), "\(command.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test(arguments: [
    ["run", "job.yaml"], ["plan", "job.yaml"], ["next", "job.yaml"], ["status"], ["orphans"], ["resume"],
    ["report"], ["reset", "s"], ["cancel", "s"], ["journal", "check"], ["journal", "export"],
    ["explain", "files", "--manifest", "job.yaml"], ["submit", "job.yaml", "files"],
    ["journal", "prune", "--runs", "1d"], ["resolve", "--all", "done", "--session", "s"],
  ])
  func `whose state folder is a file reports it`(_ arguments: [String]) async throws {
    let state = job.folder.path("job.yaml")
    let command = try await job.start(arguments + ["--state", state]).end()
    #expect(command.status == 70, "\(command.stdout)\(command.stderr)")
    #expect(command.stderr.contains("\(state): "), "\(command.stderr)")
    #expect(command.stderr.contains("it exists but is not a folder\nhelp: "), "\(command.stderr)")
    #expect(command.stderr.contains("choose a different state folder with --state"), "\(command.stderr)")
  }

  @Test(arguments: [
    ["explain", "HOSTILE", "--manifest", "job.yaml"], ["explain", "HOSTILE"], ["reset", "HOSTILE"],
    ["status", "HOSTILE"], ["orphans", "HOSTILE"], ["cancel", "HOSTILE"], ["resume", "HOSTILE"],
    ["journal", "check", "HOSTILE"], ["journal", "export", "HOSTILE"],
    ["journal", "prune", "--delivered", "1d", "HOSTILE"], ["report", "HOSTILE"],
    ["submit", "job.yaml", "HOSTILE"], ["status", "--manifest", "HOSTILE"], ["run", "HOSTILE"],
    ["plan", "job.yaml", "--at", "HOSTILE"], ["run", "job.yaml", "--var", "HOSTILE"],
    ["submit", "job.yaml", "files", "--list", "HOSTILE"], ["plan", "job.yaml", "--only", "HOSTILE"],
  ])
  func `quotes arguments with control characters`(_ arguments: [String]) async throws {
    let command = try await job.start(arguments.map { $0.replacing("HOSTILE", with: "a\u{1b}[31m\nb") }).end()
    #expect(command.status == 2, "\(command.stdout)\(command.stderr)")
    #expect(command.stderr.contains(#""a\033[31m\nb""#), "\(command.stderr)")
    #expect(!command.stderr.contains("\u{1b}"), "\(command.stderr)")
    #expect(!command.stderr.contains("\nb"), "\(command.stderr)")
  }

  /// Swift would replace the byte, and the resulting name could be that of another folder.
  @Test func `a folder in the environment or an argument that is not UTF-8 is rejected`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("version: 1\nname: m\n".utf8), to: "job.yaml")
    for line in [
      "HOME=\"$PWD\"/$(printf 'bad\\377') \"$FERRY\" check job.yaml",
      "\"$FERRY\" check $(printf 'a\\377').yaml",
      "FERRY_STATE=$(printf 'bad\\377') \"$FERRY\" status",
    ] {
      let command = try await Command.run(
        "bash", ["-c", line], environment: ["FERRY": Product.path("ferry")], in: folder.url)
      #expect(command.status == 2 && command.stderr.contains("is not UTF-8"), "\(line): \(command.stderr)")
    }
  }

  @Test func `a variable that is not UTF-8 counts as not set`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Data("version: 1\nname: m\nvars: { x: { default: \"${env.OUT}\" } }\n".utf8), to: "job.yaml")
    let line = "OUT=$(printf 'a\\377') \"$FERRY\" check job.yaml"
    let command = try await Command.run(
      "bash", ["-c", line], environment: ["FERRY": Product.path("ferry")], in: folder.url)
    #expect(command.status == 3 && command.stdout.contains("OUT"), "\(command.stdout)\(command.stderr)")
  }

  @Test func `a secret's file in a shared folder must not belong to another user`() async throws {
    guard geteuid() == 0 else { return }
    let job = try Workspace(
      """
      version: 1
      name: m
      secrets: { t: { file: shared/token } }
      sessions: { s: {} }
      requests: { r: { session: s, request: { url: "http://127.0.0.1:9/", headers: { X: "${secrets.t}" } } } }
      """)
    let shared = try job.folder.makeFolder("shared").path
    try job.folder.write(Data("private".utf8), to: "key")
    chmod(shared, 0o1777)
    for isLink in [true, false] {
      try? FileManager.default.removeItem(atPath: shared + "/token")  // The file does not exist at first.
      if isLink {
        symlink("../key", shared + "/token")
      } else {
        try job.folder.write(Data(), to: "shared/token")
      }
      lchown(shared + "/token", 65534, 65534)
      let command = try await job.ferry("run", "job.yaml")
      #expect(command.status == 2 && command.stderr.contains("user 65534"), "\(command.stderr)")
    }
  }
}

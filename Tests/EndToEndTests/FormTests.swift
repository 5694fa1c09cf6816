import Foundation
import Testing

/// `protocol: multipart_form` against aiohttp, a server that is not part of this project.
@Suite struct `A form` {
  /// Whether the server is available. If it is not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  private static let isPossible: Bool = {
    guard FormServer.python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of forms need python3-aiohttp; run scripts/setup test\n\n".utf8))
    return false
  }()

  /// The size of a large file in bytes, which exceeds what the buffers of two sockets can hold.
  private static let large = 32 << 20

  private static func manifest(
    _ server: FormServer, form: String = "{ file: { field: photo } }", retry: String = "", steps: String = "",
    path: String = "/forms", head: String = ""
  ) -> String {
    """
    version: 1
    name: forms
    sessions: { quick: { max_connections_per_host: 1 } }
    \(head)
    uploads:
      photos:
        session: quick
        files: { root: files }
        \(steps)
        transfer:
          protocol: multipart_form
          form: \(form)
          request: { url: "\(server.url)\(path)" }
    """
  }

  private static let exactlyOnce = """
    allocate: { request: { url: "URL/ids" }, capture: { id: { json: /id } } }
        commit: { request: { url: "URL/commit/${allocate.id}" }, idempotency_key: { header: Idempotency-Key } }
    """

  /// Computes digests with openssl, independently of ferry.
  private static func digests(_ contents: [Data]) async throws -> [Data: String] {
    let folder = try TemporaryFolder()
    for (index, content) in contents.enumerated() { try folder.write(content, to: "\(index)") }
    let paths = contents.indices.map { folder.path("\($0)") }
    let command = try await Command.run("openssl", ["dgst", "-sha256", "-r"] + paths)
    let lines = command.stdout.split(separator: "\n").map { String($0.prefix(64)) }
    #expect(lines.count == contents.count, "\(command.stderr)")
    return Dictionary(zip(contents, lines)) { first, _ in first }
  }

  private static func sha256(_ content: Data) async throws -> String? {
    try await digests([content])[content]
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `arrives with its fields and its file, whatever the file's name`() async throws {
    let server = try await FormServer.start()
    let form = """
      { fields: { title: "ä${file.stem | base64}", "quoted \\"": "--ferry-00000000000000000000000000000000\\r\\n--x--" },
              file: { field: photo, name: "${file.name}", content_type: "text/x-${file.size}" },
              fields_after: [{ name: "t[]", value: "" }, { name: "t[]", value: "${file.sha256}", content_type: text/plain }] }
      """
    let job = try Workspace(Self.manifest(server, form: form))
    var contents: [Data: Data] = [:]
    let long = Array(String(repeating: "ü", count: 125).utf8) + Array(".jpg".utf8)
    let names =
      HostileName.all.map(\.bytes) + [long, Array("Köln \"😀\" 100%.jpg".utf8), Array("a\r\nb: c".utf8)]
    // In the header section of a part, aiohttp rejects control characters except the tab. ferry
    // percent-encodes line breaks.
    let isRefused: (UInt8) -> Bool = { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) || $0 == 0x7F }
    for (index, name) in names.enumerated()
    where !name.contains(UInt8(ascii: "/")) && !name.contains(where: isRefused) {
      let content = Data(
        (0..<[0, 1, 65_535, 70_000][index % 4]).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
      let path = Array(job.folder.path("files/").utf8) + name
      let file = open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT | O_EXCL, 0o600)
      // On some file systems, the name equals an existing name, so the file cannot be created.
      guard file >= 0 else { continue }
      try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: content)
      contents[Data(name)] = content
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let forms = try server.forms
    let digests = try await Self.digests(Array(contents.values))
    #expect(forms.count == contents.count && contents.count > 30)
    #expect(Set(forms.map(\.boundary)).count == forms.count)
    for (name, content) in contents {
      let quoted = name.flatMap { byte -> [UInt8] in
        switch byte {
        case 0x22: Array("%22".utf8)
        case 0x0D: Array("%0D".utf8)
        case 0x0A: Array("%0A".utf8)
        default: [byte]
        }
      }
      let disposition = Data("form-data; name=\"photo\"; filename=\"".utf8) + quoted + Data("\"".utf8)
      let form = try #require(
        forms.first { $0.parts.contains { $0.disposition == disposition } },
        "\(String(decoding: name, as: UTF8.self))")
      #expect(form.method == "POST")
      // aiohttp 3.8 does not parse a quoted name with two semicolons.
      let isParsed = name.count(where: { $0 == UInt8(ascii: ";") }) < 2
      #expect(form.parts.map(\.name) == ["title", "quoted %22", isParsed ? "photo" : nil, "t[]", "t[]"])
      #expect(form.parts[1].value == "--ferry-00000000000000000000000000000000\r\n--x--")
      #expect(form.parts[2].size == content.count && form.parts[2].sha256 == digests[content])
      #expect(form.parts[2].contentType == "text/x-\(content.count)")
      #expect(form.parts[3].value == "" && form.parts[3].contentType == nil)
      #expect(form.parts[4].value == digests[content] && form.parts[4].contentType == "text/plain")
      #expect(form.contentLength > content.count)
    }
    let useful = contents.values.map(\.count).reduce(0, +)
    #expect(report.totals.bytes.useful == useful && report.totals.bytes.resent == 0)
    #expect(report.totals.bytes.overhead > forms.map(\.contentLength).reduce(0, +) - useful)
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `of examples/multipart-form.yaml arrives`() async throws {
    let server = try await FormServer.start()
    let job = try Workspace("")
    try job.folder.write(Data("photo".utf8), to: "files/At the sea.jpeg")
    try job.folder.write(Data("not a photo".utf8), to: "files/notes.txt")
    let environment = ["FORM_SERVER": server.url, "FORM_PHOTOS": job.folder.path("files")]
    let run = try job.start(
      ["run", Product.source("examples/multipart-form.yaml")], environment: environment)
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    let form = try #require(try server.forms.first)
    #expect(try server.forms.count == 1)
    #expect(form.parts.map(\.name) == ["title", "taken", "photo", "tag[]", "tag[]"])
    #expect(form.parts[0].value == "At the sea" && form.parts[2].filename == "At the sea.jpeg")
    #expect(form.parts[2].contentType == "image/jpeg" && form.parts[2].size == 5)
    #expect(form.parts[3].value == "upload" && form.parts[4].value == "ferry")
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `of 64 MiB takes no more memory than a small one`() async throws {
    let server = try await FormServer.start()
    var peaks: [Int] = []
    for (index, size) in [100_000, 64 << 20].enumerated() {
      let job = try Workspace(Self.manifest(server, form: "{ fields: { number: \(index) } }"))
      let content = Data(repeating: UInt8(index), count: size)
      try job.folder.write(content, to: "files/a")
      // The server waits after the last byte, so that the run's memory can be measured before the run exits.
      try server.set("\"stop\": \(size)")
      let run = try job.start(["run", "job.yaml"])
      try await server.waitUntilStopped(index + 1)
      peaks.append(try Self.peak(of: run.pid))
      try server.set("")
      let end = await run.end()
      #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
      let digest = try await Self.sha256(content)
      #expect(try server.forms.last?.file?.sha256 == digest)
    }
    #expect(peaks[1] < peaks[0] + (8 << 20), "\(peaks)")
    await server.stop()
  }

  /// The peak resident memory of a process, in bytes.
  private static func peak(of process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber))) << 10
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `is sent from its start after a kill, and each file is committed once`() async throws {
    let server = try await FormServer.start()
    let job = try Workspace(
      Self.manifest(
        server, steps: Self.exactlyOnce.replacing("URL", with: server.url), path: "/forms/${allocate.id}"))
    var contents: [String: Data] = [:]
    for number in 0..<4 { contents["\(number)"] = Data(repeating: UInt8(number), count: Self.large) }
    for (name, content) in contents { try job.folder.write(content, to: "files/\(name)") }
    for kill in 1...3 {
      try server.set("\"stop\": \(1 << 20)")
      let run = try job.start(["run", "job.yaml"])
      try await server.waitUntilStopped(kill)
      run.signal(SIGKILL)
      #expect(await run.end().status == 128 + SIGKILL)
      try server.set("")
    }
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    let commits = try server.commits
    #expect(commits.compactMap(\.form.file?.filename).sorted() == contents.keys.sorted())
    let digests = try await Self.digests(Array(contents.values))
    for commit in commits {
      let name = try #require(commit.form.file?.filename)
      #expect(commit.form.file?.sha256 == digests[contents[name] ?? Data()])
    }
    // The server never accepted a truncated form as complete.
    #expect(try server.forms.count == contents.count)
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `without a commit is not sent again blindly after a kill`() async throws {
    let server = try await FormServer.start()
    let job = try Workspace(Self.manifest(server))
    let content = Data(repeating: 7, count: Self.large)
    try job.folder.write(content, to: "files/a")
    try server.set("\"stop\": \(1 << 20)")
    let run = try job.start(["run", "job.yaml"])
    try await server.waitUntilStopped()
    run.signal(SIGKILL)
    _ = await run.end()
    try server.set("")
    let next = try await job.run()
    #expect(next.report.item("a")?.state == "ambiguous")
    #expect(try server.forms.isEmpty)
    let retry = try await job.ferry("resolve", "--all", "retry", "--manifest", "job.yaml")
    #expect(retry.status == 0, "\(retry.stderr)")
    let last = try await job.run()
    #expect(last.command.status == 0, "\(last.command.stdout)\(last.command.stderr)")
    let digest = try await Self.sha256(content)
    #expect(try server.forms.map(\.file?.sha256) == [digest])
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `is sent again with another boundary and a new token after a 401`() async throws {
    let server = try await FormServer.start()
    let token = """
      tokens:
        login:
          session: quick
          request: { url: "\(server.url)/token", form: { a: b } }
          capture: { access: { json: /access_token, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      """
    let job = try Workspace(
      Self.manifest(
        server, form: "{ fields: { proof: \"${token.access}\" } }", steps: "token: login", head: token))
    let content = Data(repeating: 9, count: 3 << 20)
    try job.folder.write(content, to: "files/a")
    // The server rejects the expired token only after it has read the whole body.
    try server.set("\"token\": \"t2\"")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let forms = try server.forms
    #expect(forms.map(\.status) == [401, 201])
    #expect(forms.map(\.authorization) == ["Bearer t1", "Bearer t2"])
    #expect(forms.map { $0.parts.first?.value } == ["t1", "t2"])
    let digest = try await Self.sha256(content)
    #expect(forms.map(\.file?.sha256) == [digest, digest])
    #expect(Set(forms.map(\.boundary)).count == 2)
    #expect(report.totals.bytes.useful == content.count && report.totals.bytes.resent == content.count)
    #expect(report.totals.tokensFetched == 2)
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "python3-aiohttp is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `never arrives complete if its file changes during the transfer`() async throws {
    let server = try await FormServer.start()
    let job = try Workspace(Self.manifest(server, steps: "retry: { limit: 1, initial: 10ms }"))
    try job.folder.write(Data(repeating: 1, count: 64 << 20), to: "files/a")
    try server.set("\"stop\": \(1 << 20)")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    try await server.waitUntilStopped()
    let file = try FileHandle(forWritingTo: URL(filePath: job.folder.path("files/a")))
    try file.seek(toOffset: (64 << 20) - 1)
    try file.write(contentsOf: Data([2]))
    try file.close()
    try server.set("")
    let end = await run.end()
    #expect(end.status == 4, "\(end.stdout)\(end.stderr)")
    #expect(try job.report().item("a")?.reason?.code == "source_changed")
    #expect(try server.forms.isEmpty)
    await server.stop()
  }
}

import Foundation
import Testing

/// examples/webdav-move.yaml and examples/webdav.yaml against Apache's mod_dav, which is not part of this project.
@Suite struct `A WebDAV example` {
  /// Whether the server is available. If it is not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  private static let isPossible: Bool = {
    guard !ApacheServer.missingPrograms.isEmpty else { return true }
    let programs = ApacheServer.missingPrograms.joined(separator: ", ")
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the WebDAV test needs \(programs); run scripts/setup test\n\n".utf8))
    return false
  }()

  private static let kills = 5

  @Test(
    .enabled(if: isPossible, "apache2 and openssl are needed: scripts/setup test"), .timeLimit(.minutes(3)))
  func `moves each of 200 files once to Apache, although ferry is killed five times`() async throws {
    let files = Self.files(200)
    let server = try await ApacheServer.start()
    let job = try Workspace("")
    for (name, content) in files { try job.folder.write(content, to: "files/\(name)") }

    var lost: Set<String> = []
    for kill in 1...Self.kills {
      let run = try Self.start(job, server)
      // From here on, the run only continues for moments of 'kill', so that it cannot end before it is killed, however
      // late a busy machine continues this test.
      run.signal(SIGSTOP)
      // The kills come after one sixth of the files, after two sixths, and so on.
      let after = files.count * kill / (Self.kills + 1)
      lost.formUnion(try await Self.kill(run, job, server, after: after, lostBefore: lost))
      #expect(await run.end().status == 128 + SIGKILL, "kill \(kill): \(run.stdout)\(run.stderr)")
    }
    let last = try await Self.start(job, server).end()
    #expect(last.status == 0, "\(last.stdout)\(last.stderr)")

    // No file is lost: each is in its destination with the right content, and nothing remains in the staging
    // collection.
    #expect(try server.files(in: "documents") == files)
    #expect(try server.names(in: ".incoming").isEmpty)
    // No file is moved twice. A failed MOVE would be a request that ferry could have avoided.
    let moves = Dictionary(grouping: server.requests.filter { $0.contains(" MOVE ") }) { $0 }
    #expect(moves.count == files.count)
    #expect(moves.allSatisfy { $0.key.hasPrefix("201 ") && $0.value.count == 1 }, "\(moves.keys)")
    // Each kill left a MOVE whose response was lost. The probe has shown that it was executed.
    #expect(lost.count >= Self.kills)
    #expect(server.requests.count { $0.hasPrefix("404 HEAD ") } >= lost.count)
    #expect(server.requests.allSatisfy { "24".contains($0.prefix(1)) }, "\(server.requests)")

    // No file has changed, so the next round only requests the collections.
    let before = server.requests.count
    let again = try await Self.start(job, server).end()
    #expect(again.status == 0, "\(again.stdout)\(again.stderr)")
    #expect(server.requests.dropFirst(before).allSatisfy { $0.hasPrefix("405 MKCOL ") })
    await server.stop()
  }

  @Test(
    .enabled(if: isPossible, "apache2 and openssl are needed: scripts/setup test"), .timeLimit(.minutes(1)))
  func `puts the files of two folders to Apache, each once`() async throws {
    let server = try await ApacheServer.start()
    for collection in ["documents", "photos"] {
      let command = try await Command.run(
        "curl", ["-sf", "-u", ApacheServer.login, "-X", "MKCOL", "\(server.url)/\(collection)"])
      #expect(command.status == 0)
    }
    // The folders of this example are in the home directory, and its password file is beside the manifest.
    let job = try Workspace(
      String(contentsOfFile: Product.source("examples/webdav.yaml"), encoding: .utf8))
    try job.folder.write(Data("\(ApacheServer.password)\n".utf8), to: "backup.password")
    let documents = ["Süß & gut #1.txt": Data("text".utf8), "empty": Data()]
    for (name, content) in documents { try job.folder.write(content, to: "Documents/\(name)") }
    for name in [".hidden", "draft.tmp"] { try job.folder.write(Data("x".utf8), to: "Documents/\(name)") }
    let photo = Data(repeating: 7, count: 300_000)
    try job.folder.write(photo, to: "Pictures/a b.jpg")
    let environment = [
      "BACKUP_SERVER": server.url, "BACKUP_USER": ApacheServer.user, "HOME": job.folder.path(""),
    ]
    let first = try await job.ferry("run", "job.yaml", environment: environment)
    #expect(first.status == 0, "\(first.stdout)\(first.stderr)")
    #expect(try server.files(in: "documents") == documents)
    #expect(try server.files(in: "photos") == ["a b.jpg": photo])
    // A photo is never sent again, but a document is sent again if it has changed.
    try job.folder.write(Data("another".utf8), to: "Pictures/a b.jpg")
    try job.folder.write(Data("longer text".utf8), to: "Documents/empty")
    let second = try await job.ferry("run", "job.yaml", environment: environment)
    #expect(second.status == 0, "\(second.stdout)\(second.stderr)")
    #expect(try server.files(in: "documents")["empty"] == Data("longer text".utf8))
    #expect(server.requests.count { $0.contains(" PUT ") } == 4)
    await server.stop()
  }

  /// Names with characters that have a meaning in URLs, and in two Unicode spellings. All names are different.
  private static func files(_ count: Int) -> [String: Data] {
    var random = SplitMix(seed: 2026)
    let patterns = [
      "Foto @ aus Köln.jpg", "100 % fertig @.txt", "#@ Überblick.md", "a+b=@ + c.txt", "Süß & gut #@ 50%.bin",
      "%41 %2F @.txt", "cafe\u{301} @.txt", "@  + % # ä?.dat",
    ]
    return Dictionary(
      uniqueKeysWithValues: (0..<count).map { index in
        let name = patterns[index % patterns.count].replacing("@", with: "\(index)")
        return (name, random.bytes(Int(random.next() % 30_000)))
      })
  }

  private static func start(_ job: Workspace, _ server: ApacheServer) throws -> RunningCommand {
    try job.start(
      ["run", Product.source("examples/webdav-move.yaml")],
      environment: [
        "DAV_SERVER": server.url, "DAV_FILES": job.folder.path("files"), "DAV_USER": ApacheServer.user,
        "DAV_PASSWORD": ApacheServer.password,
      ])
  }

  /// Kills a stopped run after this many files have been moved, when the server has executed a MOVE whose outcome ferry
  /// has not recorded. To find such a moment, the run is continued for a few milliseconds at a time.
  ///
  /// - Parameter lostBefore: the files whose MOVE had no recorded outcome after an earlier kill. When the run is
  ///   stopped, it possibly has not probed them yet.
  /// - Returns: the other files whose MOVE has no recorded outcome after this kill.
  private static func kill(
    _ run: RunningCommand, _ job: Workspace, _ server: ApacheServer, after count: Int, lostBefore: Set<String>
  ) async throws -> Set<String> {
    while run.isRunning {
      // Nothing is awaited here, because other tests could delay the signal that stops the run.
      run.signal(SIGCONT)
      usleep(4_000)
      run.signal(SIGSTOP)
      guard try server.names(in: "documents").count >= count else { continue }
      // During this time, the server executes the requests that it has received.
      try await Task.sleep(for: .milliseconds(20))
      let moved = Set(try server.names(in: "documents"))
      let intents = try await RecordedItems.read(session: "dav.dav", of: job).intents
      let lost = intents.intersection(moved).subtracting(lostBefore)
      if !lost.isEmpty {
        run.signal(SIGKILL)
        return lost
      }
    }
    return []
  }
}

import Foundation
import Testing

/// The general features of the manifest against Debian's docker-registry, a server that is not part of this project.
@Suite struct `The registry job` {
  /// Whether the programs are available. If not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  private static let isPossible: Bool = {
    guard !Registry.missingPrograms.isEmpty else { return true }
    let programs = Registry.missingPrograms.joined(separator: ", ")
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the registry test needs \(programs); run scripts/setup test\n\n".utf8))
    return false
  }()

  @Test(
    .enabled(if: isPossible, "docker-registry, python3, openssl and curl are needed: scripts/setup test"),
    .timeLimit(.minutes(5)))
  func `transfers every blob byte for byte, and sends nothing the second time`() async throws {
    let folder = try TemporaryFolder()
    let files = try TestFiles.write(to: folder, under: "files")
    let registry = try await Registry.start()

    let first = try await run(registry, folder)
    #expect(first.status == 0, "\(first.stderr)")
    let uploads = registry.requests.filter { $0.contains("/blobs/uploads/") }
    #expect(uploads.filter { $0.hasPrefix("POST ") }.count == files.count)
    #expect(uploads.filter { $0.hasPrefix("PATCH ") }.count == files.count)
    #expect(uploads.filter { $0.hasPrefix("PUT ") }.count == files.count)

    let token = try await registry.token(for: "ferry/files")
    for (name, content) in files {
      let digest = try await Self.digest(of: folder.path("files/\(name)"))
      let blob = try await registry.blob(digest, in: "ferry/files", token: token)
      #expect(blob == content, "\(name)")
    }

    let before = registry.requests.count
    let second = try await run(registry, folder)
    #expect(second.status == 0, "\(second.stderr)")
    #expect(registry.requests.count == before, "\(registry.requests.dropFirst(before))")
    await registry.stop()
  }

  @Test(
    .enabled(if: isPossible, "docker-registry, python3, openssl and curl are needed: scripts/setup test"),
    .timeLimit(.minutes(5)))
  func `sends blobs in chunks, also after kills`() async throws {
    let folder = try TemporaryFolder()
    var random = SplitMix(seed: 11)
    let sizes = ["large": 30_000_000, "two": 2 << 20, "small": 1000, "byte": 1, "empty": 0]
    for (name, size) in sizes { try folder.write(random.bytes(size), to: "files/\(name)") }
    let registry = try await Registry.start()
    let environment = registry.environment.merging(["FERRY_REGISTRY_FILES": folder.path("files")]) { $1 }
    let arguments = ["run", Product.source("examples/oci-registry.yaml"), "--state", folder.path("state")]
    for _ in 0..<4 {
      let run = try RunningCommand(Product.path("ferry"), arguments, environment: environment)
      try await Task.sleep(for: .milliseconds(Int64(100 + random.next() % 300)))
      run.signal(SIGKILL)
      _ = await run.end()
    }
    let last = try await Command.run(Product.path("ferry"), arguments, environment: environment)
    #expect(last.status == 0, "\(last.stdout)\(last.stderr)")

    // The large file has 30 chunks of 1 MiB. Each is sent to the URL in the previous response.
    #expect(registry.requests.filter { $0.hasPrefix("PATCH ") }.count >= 29 + 2 + 3)
    let token = try await registry.token(for: "ferry/files")
    for name in sizes.keys {
      let digest = try await Self.digest(of: folder.path("files/\(name)"))
      let blob = try await registry.blob(digest, in: "ferry/files", token: token)
      let file = try Data(contentsOf: URL(filePath: folder.path("files/\(name)")))
      #expect(blob == file, "\(name)")
    }
    await registry.stop()
  }

  private func run(_ registry: Registry, _ folder: TemporaryFolder) async throws -> Command {
    try await Command.run(
      Product.path("ferry"),
      ["run", Product.source("jobs/registry.yaml"), "--state", folder.path("state")],
      environment: registry.environment.merging(["FERRY_REGISTRY_FILES": folder.path("files")]) { $1 })
  }

  /// The digest of a file, computed independently of ferry.
  private static func digest(of path: String) async throws -> String {
    let command = try await Command.run("openssl", ["dgst", "-sha256", "-r", path])
    return String(command.stdout.prefix(64))
  }
}

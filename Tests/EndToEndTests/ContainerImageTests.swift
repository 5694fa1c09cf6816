import Foundation
import Testing

/// The definition of the container image. Tests cannot download the images of the definition's stages. Therefore they
/// check its parts, and build the last stage on a base made from Debian's packages.
@Suite struct `The Dockerfile` {
  private static let hadolint: String? = {
    let known = [Product.source(".build/python/bin/hadolint"), RunningCommand.find("hadolint")]
    let found = known.compactMap(\.self).first { FileManager.default.isExecutableFile(atPath: $0) }
    if found == nil {
      FileHandle.standardError.write(
        Data("\n!!!! SKIPPED: the check of the Dockerfile needs hadolint\n\n".utf8))
    }
    return found
  }()

  @Test(.enabled(if: hadolint != nil)) func `has no problem that hadolint finds`() async throws {
    let command = try await Command.run(try #require(Self.hadolint), ["Dockerfile"])
    #expect(command.status == 0, "\(command.stdout) \(command.stderr)")
  }

  @Test(.enabled(if: RunningCommand.find("dpkg-query") != nil && RunningCommand.find("readelf") != nil))
  func `installs the package of each library that ferry needs`() async throws {
    let text = try String(contentsOfFile: Product.source("Dockerfile"), encoding: .utf8)
    let elf = try await Command.run("readelf", ["--dynamic", Product.path("ferry")])
    let libraries = elf.stdout.split(separator: "\n").filter { $0.contains("(NEEDED)") }
      .compactMap { $0.split(separator: "[").last?.dropLast() }
    #expect(libraries.contains("libcurl.so.4"))
    // Swift's libraries are linked statically in the image; the others are part of every Debian.
    let base = ["libc6", "libgcc-s1", "libstdc++6"]
    for library in libraries {
      let owner = try await Command.run("dpkg-query", ["--search", "*/\(library)"])
      let packages = owner.stdout.split(separator: "\n").compactMap { $0.split(separator: ":").first }
      guard let package = packages.first, !base.contains(String(package)) else { continue }
      #expect(packages.contains { text.contains(" \($0) ") }, "\(library) of \(packages) is missing")
    }
  }

  @Test(.enabled(if: RunningCommand.find("apt-cache") != nil))
  func `names only packages of Debian and paths of the project`() async throws {
    let text = try String(contentsOfFile: Product.source("Dockerfile"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let packages = lines.first { $0.hasPrefix("ca-certificates") } ?? ""
    #expect(packages.hasSuffix("\\"))
    for package in packages.dropLast().split(separator: " ") {
      let shown = try await Command.run("apt-cache", ["show", "--no-all-versions", String(package)])
      #expect(shown.status == 0, "\(package): \(shown.stderr)")
    }
    #expect(FileManager.default.isExecutableFile(atPath: Product.source("scripts/setup")))
    let manifest = try String(contentsOfFile: Product.source("Package.swift"), encoding: .utf8)
    #expect(text.contains("--product ferry") && manifest.contains("name: \"ferry\""))
  }

  private static let canBuild: Bool = {
    let missing = ["buildah", "mmdebstrap"].filter { RunningCommand.find($0) == nil }
    guard missing.isEmpty, getuid() == 0 else {
      let reason = missing.isEmpty ? "root" : missing.joined(separator: " and ")
      FileHandle.standardError.write(Data("\n!!!! SKIPPED: the build of the image needs \(reason)\n\n".utf8))
      return false
    }
    return true
  }()

  @Test(.enabled(if: canBuild), .timeLimit(.minutes(15)))
  func `builds an image in which ferry runs shards as a user that is not root`() async throws {
    let folder = try TemporaryFolder()
    let script = Product.source("Tests/EndToEndTests/Container/image.sh")
    let place = folder.url.path(percentEncoded: false)
    let built = try await RunningCommand(
      script, [place, "build", Product.source("Dockerfile"), Product.path("ferry")]
    ).end(within: .seconds(800))
    guard built.status != 77 else {
      let text =
        "\n!!!! SKIPPED: the build of the image cannot download Debian's packages: \(built.stderr)\n\n"
      FileHandle.standardError.write(Data(text.utf8))
      return
    }
    try #require(built.status == 0, "\(built.stdout) \(built.stderr)")
    let image = try await Command.run(script, [place, "inspect"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(image.stdout.utf8)) as? [String: Any])
    let configuration = try #require((object["OCIv1"] as? [String: Any])?["config"] as? [String: Any])
    #expect(
      configuration["Entrypoint"] as? [String] == ["ferry"]
        && configuration["User"] as? String == "65532:65532")

    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs()))
    for number in 0..<6 { try job.write("content \(number)", to: "f\(number).txt") }
    let state = folder.path("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    #expect(chown(state, 65532, 65532) == 0)
    // A debug build is not linked statically with Swift's libraries.
    let libraries = try await Command.run("ldd", [Product.path("ferry")]).stdout.split(separator: "\n")
      .first { $0.contains("libswiftCore") }?.split(separator: " ").dropFirst(2).first
    let swift = URL(filePath: String(try #require(libraries))).deletingLastPathComponent()
      .path(percentEncoded: false)
    func run(_ command: String..., environment: [String] = []) async throws -> Command {
      let files = job.folder.url.path(percentEncoded: false)
      let volumes = ["\(swift):\(swift):ro", "\(files):/job:ro", "\(state):/state"]
      return try await Command.run(
        script,
        [place, "run"] + volumes.flatMap { ["--volume", $0] }
          + (environment + ["E2E_SECRET=\(Workspace.secret)"]).flatMap { ["--env", $0] } + ["--"] + command)
    }
    let version = try await run("ferry", "--version")
    #expect(version.status == 0 && version.stdout.hasPrefix("ferry "), "\(version.stdout) \(version.stderr)")
    let user = try await run("id", "-u")
    #expect(user.stdout == "65532\n")
    for index in 0..<2 {
      let shard = try await run(
        "ferry", "run", "/job/job.yaml", "--shard", "auto/2", "--state", "/state",
        environment: ["JOB_COMPLETION_INDEX=\(index)"])
      #expect(shard.status == 0, "\(shard.stdout) \(shard.stderr)")
    }
    let received = try await receiver.received()
    #expect(received.commits == 6 && received.uploads.allSatisfy { $0.commits == 1 })
    let merged = try await run("ferry", "report", "merge", "/state")
    #expect(merged.status == 0 && merged.stdout.contains("6 done"), "\(merged.stdout) \(merged.stderr)")
  }
}

import Foundation
import Testing

/// The definition of the container image. A test cannot build the image, so the parts of the definition are
/// checked.
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
}

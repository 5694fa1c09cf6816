import Foundation
import Testing

/// The valid and invalid manifests of this package.
enum CheckedManifests {
  static let golden = Product.package.appending(path: "Tests/FerryManifestTests/Golden")

  static let bad = manifests(in: golden)
  static let good = ["jobs", "examples"].flatMap { folder in
    manifests(in: Product.package.appending(path: folder)).map { "\(folder)/\($0)" }
  }

  private static func manifests(in folder: URL) -> [String] {
    // If the folder does not exist, there are no manifests, and the test of their number fails.
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.filter { $0.hasSuffix(".yaml") }.sorted()
  }
}

/// The output of `ferry check` is compared word for word.
@Suite struct `The checked manifests` {
  private static let golden = CheckedManifests.golden

  /// The environment with which the expected texts were recorded.
  private static let environment = [
    "HOME": "/home/me", "SCANS_CLIENT_SECRET": "a", "FERRY_DEMO_SECRET": "a",
  ]

  @Test func `exist`() {
    #expect(CheckedManifests.bad.count >= 12)
    #expect(CheckedManifests.good.count >= 6)
  }

  @Test(arguments: CheckedManifests.bad)
  func `that are invalid get the recorded diagnostics and exit code 3`(_ name: String) async throws {
    let command = try await Command.run(
      Product.path("ferry"), ["check", name], environment: Self.environment, in: Self.golden)
    let text = Self.golden.appending(path: name.replacing(".yaml", with: ".txt"))
    #expect(command.stdout == String(decoding: try Data(contentsOf: text), as: UTF8.self))
    #expect(command.stderr == "")
    #expect(command.status == 3)
  }

  /// The output of `--format json`.
  private struct Checked: Decodable {
    struct Manifest: Decodable {
      var file: String
      var valid: Bool
      var diagnostics: [Diagnostic]
      var needs: [Need]
    }
    struct Diagnostic: Decodable {
      var code: String
      var severity: String
      var file: String
      var line: Int
      var column: Int
      var message: String
    }
    struct Need: Decodable, Equatable {
      var kind: String
      var name: String
      var file: String
      var line: Int
      var column: Int
      var hasDefault: Bool
      var isSet: Bool
      var isSecret: Bool
      var type: String?
    }
    var manifests: [Manifest]
  }

  private func json(
    _ names: [String], environment: [String: String] = environment, in folder: URL
  ) async throws -> (status: Int32, checked: Checked) {
    let command = try await Command.run(
      Product.path("ferry"), ["check", "--format", "json"] + names, environment: environment, in: folder)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return (command.status, try decoder.decode(Checked.self, from: Data(command.stdout.utf8)))
  }

  @Test func `are all reported in one JSON object`() async throws {
    let (status, checked) = try await json(CheckedManifests.bad, in: Self.golden)
    #expect(status == 3)
    #expect(checked.manifests.map(\.file) == CheckedManifests.bad)
    #expect(checked.manifests.allSatisfy { !$0.valid && !$0.diagnostics.isEmpty })
    for manifest in checked.manifests {
      for diagnostic in manifest.diagnostics {
        #expect(diagnostic.file == manifest.file)
        #expect(diagnostic.line >= 1 && diagnostic.column >= 1 && !diagnostic.message.isEmpty)
        #expect(diagnostic.code.wholeMatch(of: /F0[0-9]{3}/) != nil)
      }
    }
  }

  @Test(arguments: CheckedManifests.good)
  func `that are jobs or examples are valid`(_ path: String) async throws {
    let command = try await Command.run(
      Product.path("ferry"), ["check", path], environment: Self.environment, in: Product.package)
    let lines = command.stdout.split(separator: "\n")
    #expect(lines.first == "\(path): ok")
    #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  needs  ") })
    #expect(command.status == 0, "\(command.stderr)")

    let (_, checked) = try await json([path], in: Product.package)
    #expect(checked.manifests.map(\.valid) == [true])
    #expect(checked.manifests.first?.diagnostics.isEmpty == true)
    #expect(checked.manifests.first?.needs.count == lines.count - 1)
  }

  @Test func `list their external inputs, and never a value`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Data(
        """
        version: 1
        name: ${env.E2E_NAME}
        vars: { api: "${env.E2E_API:-http://127.0.0.1:1}", same: "${env.E2E_NAME:-x}", port: { type: integer } }
        secrets:
          key: { env: E2E_KEY }
          file: { file: key.txt }
          none: { file: none.txt }

        """.utf8), to: "m.yaml")
    try folder.write(Data("hidden".utf8), to: "key.txt")
    let environment = ["E2E_NAME": "photos-e2e", "E2E_API": "", "E2E_KEY": "hidden"]
    let (status, checked) = try await json(
      ["--var", "port=80", "m.yaml"], environment: environment, in: folder.url)
    #expect(status == 0)
    func need(
      _ kind: String, _ name: String, _ line: Int, _ column: Int, default: Bool = false, set: Bool,
      secret: Bool = false, type: String? = nil
    ) -> Checked.Need {
      Checked.Need(
        kind: kind, name: name, file: "m.yaml", line: line, column: column, hasDefault: `default`,
        isSet: set, isSecret: secret, type: type)
    }
    #expect(
      checked.manifests.first?.needs == [
        need("environment", "E2E_NAME", 2, 7, set: true),
        need("environment", "E2E_API", 3, 15, default: true, set: false),
        need("variable", "port", 3, 80, set: true, type: "integer"),
        need("environment", "E2E_KEY", 5, 15, set: true, secret: true),
        need("file", "key.txt", 6, 3, set: true, secret: true),
        need("file", "none.txt", 7, 3, set: false, secret: true),
      ])
    let text = try await Command.run(
      Product.path("ferry"), ["check", "--var", "port=80", "m.yaml"], environment: environment, in: folder.url
    )
    #expect(
      text.stdout == """
        m.yaml: ok
          needs  environment E2E_NAME  set                         (m.yaml:2:7)
          needs  environment E2E_API   not set, but has a default  (m.yaml:3:15)
          needs  variable port         integer, given              (m.yaml:3:80)
          needs  environment E2E_KEY   secret, set                 (m.yaml:5:15)
          needs  file key.txt          secret, can be read         (m.yaml:6:3)
          needs  file none.txt         secret, cannot be read      (m.yaml:7:3)

        """)
    #expect(!text.stdout.contains("hidden") && !text.stdout.contains("photos-e2e"))
  }

  @Test func `are reported to GitHub in one line each`() async throws {
    let command = try await Command.run(
      Product.path("ferry"), ["check", "--format", "github"] + CheckedManifests.bad,
      environment: Self.environment, in: Self.golden)
    let (_, checked) = try await json(CheckedManifests.bad, in: Self.golden)
    let diagnostics = checked.manifests.flatMap(\.diagnostics)
    let lines = command.stdout.split(separator: "\n")
    #expect(command.status == 3)
    try #require(lines.count == diagnostics.count)
    for (line, diagnostic) in zip(lines, diagnostics) {
      #expect(
        line.hasPrefix(
          "::\(diagnostic.severity) file=\(diagnostic.file),line=\(diagnostic.line),col=\(diagnostic.column),"
        ))
      #expect(line.contains(",title=\(diagnostic.code)::"))
    }
  }

  @Test func `are colored only at a terminal, and not with NO_COLOR`() async throws {
    let ferry = Product.path("ferry")
    for subcommand in ["check", "plan"] {
      let line = "'\(ferry)' \(subcommand) tab.yaml"
      let colored = try await Command.run(
        "script", ["-qec", line, "/dev/null"], environment: ["NO_COLOR": ""], in: Self.golden)
      #expect(colored.stdout.contains("\u{1B}[1;31merror:\u{1B}[0m"))
      let plain = try await Command.run(
        "script", ["-qec", line, "/dev/null"], environment: ["NO_COLOR": "1"], in: Self.golden)
      #expect(plain.stdout.contains(" error: ") && !plain.stdout.contains("\u{1B}"))
    }
  }
}

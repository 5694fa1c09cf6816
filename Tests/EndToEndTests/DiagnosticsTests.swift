import Foundation
import Testing

/// `ferry check`, word for word.
@Suite struct `The checked manifests` {
  private static let golden = Product.package.appending(path: "Tests/FerryManifestTests/Golden")

  /// The recorded texts were made with this home.
  private static let environment = [
    "HOME": "/home/me", "SCANS_CLIENT_SECRET": "a", "FERRY_DEMO_SECRET": "a",
  ]

  private static func manifests(in folder: URL) -> [String] {
    // Without the folder there is none, and the test of their number fails.
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.filter { $0.hasSuffix(".yaml") }.sorted()
  }

  static let bad = manifests(in: golden)
  static let good = ["jobs", "examples"].flatMap { folder in
    manifests(in: Product.package.appending(path: folder)).map { "\(folder)/\($0)" }
  }

  @Test func `are there`() {
    #expect(Self.bad.count >= 12)
    #expect(Self.good.count >= 6)
  }

  @Test(arguments: bad)
  func `that are bad get the recorded diagnostics, and 3`(_ name: String) async throws {
    let command = try await Command.run(
      Product.path("ferry"), ["check", name], environment: Self.environment, in: Self.golden)
    let text = Self.golden.appending(path: name.replacing(".yaml", with: ".txt"))
    #expect(command.stdout == String(decoding: try Data(contentsOf: text), as: UTF8.self))
    #expect(command.stderr == "")
    #expect(command.status == 3)
  }

  @Test func `are all told of in one JSON list`() async throws {
    struct Record: Decodable {
      var severity: String
      var file: String
      var line: Int
      var column: Int
      var message: String
    }
    let command = try await Command.run(
      Product.path("ferry"), ["check", "--format", "json"] + Self.bad, environment: Self.environment,
      in: Self.golden)
    #expect(command.status == 3)
    let records = try JSONDecoder().decode([Record].self, from: Data(command.stdout.utf8))
    #expect(Set(records.map(\.file)) == Set(Self.bad))
    #expect(records.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
  }

  @Test(arguments: good)
  func `that do real work or teach are all right`(_ path: String) async throws {
    let command = try await Command.run(
      Product.path("ferry"), ["check", path], environment: Self.environment, in: Product.package)
    #expect(command.stdout == "\(path): ok\n")
    #expect(command.status == 0, "\(command.stderr)")

    let json = try await Command.run(
      Product.path("ferry"), ["check", "--format", "json", path], environment: Self.environment,
      in: Product.package)
    #expect(json.stdout.filter { !$0.isWhitespace } == "[]")
  }
}

import Foundation
import Testing

/// The output of `ferry check --format sarif`.
@Suite struct `The SARIF of checked manifests` {
  private struct Log: Decodable {
    struct Run: Decodable {
      struct Tool: Decodable { var driver: Driver }
      struct Driver: Decodable { var rules: [Rule] }
      struct Rule: Decodable { var id: String }
      var tool: Tool
      var results: [Result]
    }
    struct Result: Decodable {
      struct Location: Decodable { var physicalLocation: PhysicalLocation }
      struct PhysicalLocation: Decodable {
        struct Artifact: Decodable { var uri: String }
        struct Region: Decodable {
          var startLine: Int
          var startColumn: Int
          var endColumn: Int?
        }
        var artifactLocation: Artifact
        var region: Region
      }
      var ruleId: String
      var ruleIndex: Int
      var locations: [Location]
      var relatedLocations: [Location]?
    }
    var runs: [Run]
  }

  /// Invalid manifests, including those in Golden, in a folder whose name must be escaped in a URI.
  private func folder() throws -> (folder: TemporaryFolder, names: [String]) {
    let folder = try TemporaryFolder()
    var names: [String] = []
    for name in CheckedManifests.bad {
      try folder.write(try Data(contentsOf: CheckedManifests.golden.appending(path: name)), to: name)
      names.append(name)
    }
    for name in ["my photos/100%?#.yaml", "c:d.yaml", "ä,[1].yaml"] {
      _ = try folder.makeFolder("my photos")
      try folder.write(Data("version: 1\nname: é\u{301}\n\"🚢\": 1\n".utf8), to: name)
      names.append(name)
    }
    try folder.write(Data("version: 1\nname: good\n".utf8), to: "good.yaml")
    return (folder, names + ["good.yaml"])
  }

  private func sarif(_ names: [String], in folder: TemporaryFolder) async throws -> Command {
    try await Command.run(
      Product.path("ferry"), ["check", "--format", "sarif"] + names, in: folder.url)
  }

  @Test func `points at the rules, files and places of the diagnostics`() async throws {
    struct Checked: Decodable {
      struct Manifest: Decodable { var diagnostics: [Diagnostic] }
      struct Diagnostic: Decodable {
        var code: String
        var file: String
        var line: Int
        var column: Int
        var notes: [Note]
      }
      struct Note: Decodable { var line: Int }
      var manifests: [Manifest]
    }
    let (folder, names) = try folder()
    let command = try await sarif(names, in: folder)
    #expect(command.status == 3)
    #expect(command.stderr == "")
    let run = try #require(
      try JSONDecoder().decode(Log.self, from: Data(command.stdout.utf8)).runs.first)
    let json = try await Command.run(
      Product.path("ferry"), ["check", "--format", "json"] + names, in: folder.url)
    let checked = try JSONDecoder().decode(Checked.self, from: Data(json.stdout.utf8))
    let diagnostics = checked.manifests.flatMap(\.diagnostics)
    try #require(run.results.count == diagnostics.count)
    #expect(diagnostics.count > 50)
    for (result, diagnostic) in zip(run.results, diagnostics) {
      #expect(result.ruleId == diagnostic.code)
      #expect(run.tool.driver.rules[result.ruleIndex].id == diagnostic.code)
      let place = try #require(result.locations.first?.physicalLocation)
      #expect(place.artifactLocation.uri.removingPercentEncoding == diagnostic.file)
      #expect(!place.artifactLocation.uri.contains(/[^A-Za-z0-9%._~\/-]/))
      #expect(place.region.startLine == diagnostic.line)
      #expect(place.region.startColumn == diagnostic.column)
      #expect(place.region.endColumn.map { $0 > diagnostic.column } != false)
      #expect(
        (result.relatedLocations ?? []).map(\.physicalLocation.region.startLine)
          == diagnostic.notes.map(\.line))
    }
  }

  @Test(
    .enabled("python3-jsonschema and FERRY_SARIF_SCHEMA are needed: scripts/setup test") {
      await SARIFSchema.isThere
    })
  func `is valid by the schema that OASIS has published`() async throws {
    let (folder, names) = try folder()
    for names in [names, ["good.yaml"]] {
      let command = try await sarif(names, in: folder)
      try folder.write(Data(command.stdout.utf8), to: "log.sarif")
      let validation = try await SARIFSchema.validate(folder.path("log.sarif"))
      #expect(validation.status == 0, "\(validation.stdout)\(validation.stderr)")
    }
    // If the validator accepted everything, the test would prove nothing.
    try folder.write(Data(#"{ "version": "2.1.0", "runs": [{ "results": [] }] }"#.utf8), to: "bad.sarif")
    #expect(try await SARIFSchema.validate(folder.path("bad.sarif")).status == 1)
  }
}

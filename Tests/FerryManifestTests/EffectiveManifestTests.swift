import FerryManifest
import Foundation
import Testing

@Suite struct `The effective manifest` {
  static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  static let package = here.deletingLastPathComponent().deletingLastPathComponent()

  static func manifests(in folder: URL) -> [URL] {
    // If the folder does not exist, the list is empty, and the test of the number of manifests fails.
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.filter { $0.hasSuffix(".yaml") }.sorted().map { folder.appending(path: $0) }
  }

  static let golden = manifests(in: here.appending(path: "Effective"))
  static let all =
    golden + ["jobs", "examples"].flatMap { manifests(in: package.appending(path: $0)) }
    + ["Whole", "Agreement/good"].flatMap { manifests(in: here.appending(path: $0)) }

  @Test func `is tested with manifests that exist`() {
    #expect(Self.golden.count >= 3)
    #expect(Self.all.count >= 11)
  }

  @Test(arguments: all, Profile.allCases)
  func `means the same`(_ file: URL, _ profile: Profile) throws {
    let text = Self.text(try String(contentsOf: file, encoding: .utf8), in: profile)
    let reading = try EffectiveReading(
      text, file: file.lastPathComponent, environment: Self.environment(for: text))
    #expect(reading.first.manifest?.profile == profile)
    try reading.expectSame()
  }

  @Test(arguments: golden)
  func `is written as it was recorded`(_ file: URL) throws {
    let reading = try EffectiveReading(
      String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent)
    try expectRecorded(reading.text, at: file.deletingPathExtension().appendingPathExtension("txt"))
  }

  @Test func `leaves references as they are, so that no value of the environment is in it`() throws {
    let reading = try EffectiveReading(
      head + """
        vars: { api: "http://${env.HOST}" }
        secrets: { key: { env: KEY } }
        requests:
          r: { session: quick, request: { url: "${vars.api}/", headers: { X-Key: "${secrets.key} ${env.USER}" } } }
        """, environment: ["HOST": "hidden-host", "KEY": "hidden-key", "USER": "hidden-user"])
    try reading.expectSame()
    #expect(!reading.text.contains("hidden"))
    #expect(reading.text.contains("X-Key: ${secrets.key} ${env.USER}"))
  }

  @Test func `distinguishes a default of the profile from one of every profile`() throws {
    let text = try EffectiveReading(head + "profile: ios7\nforce_quit: cancel_tasks\n").text
    func origin(_ line: String) -> String? {
      text.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix(line) }
        .map { String($0[($0.ranges(of: "# ").last?.upperBound ?? $0.endIndex)...]) }
    }
    #expect(origin("discretionary: inferred") == "profile ios7")
    #expect(origin("policy: after_completion") == "profile ios7")
    #expect(origin("max: 6h") == "built in")
    #expect(origin("# tokens: none") == "built in")
    #expect(origin("profile: ios7") == "m.yaml:4")
    #expect(origin("force_quit: cancel_tasks") == "m.yaml:5")
    #expect(try EffectiveReading(head).text.contains("profile: server"))
  }

  @Test func `has shared values in their final places, and names their origins`() throws {
    let files = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      guard path == "shared/common.yaml" else { throw .init("No such file or directory") }
      return Array("sessions: { quick: { kind: ephemeral } }\ndefaults: { retry: { limit: 7 } }\n".utf8)
    }
    let reading = try EffectiveReading(
      """
      version: 1
      name: photos
      include: [shared/common.yaml]
      vars:
        api: http://127.0.0.1:8080
        port: { type: integer }
        note: { required: false, description: "of the run: why" }
      defaults: { fetches: { session: quick, expect: { status: [200] } } }
      fetches:
        plain:
          request: &request { url: "${vars.api}/plain" }
          save_to: plain
        each:
          for_each: { eu: { host: http://eu }, us: { host: http://us } }
          request: { <<: *request, url: "${each.value.host}/", json: { port: "${vars.port}" } }
          save_to: ${each.key}.txt
        more:
          for_each: [a, b]
          request: { <<: *request }
          save_to: ${each.value}.json
          retry: { initial: 2s }
      requests:
        last: { session: quick, needs: [each], request: *request }
      """, variables: ["port": "1234567"], files: files)
    try reading.expectSame()
    #expect(reading.first.manifest?.fetches.count == 5)
    #expect(!reading.text.contains("include"))
    #expect(!reading.text.contains("defaults"))
    #expect(!reading.text.contains("1234567"))
    let lines = reading.text.split(separator: "\n").map { line in
      line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
    for line in [
      "kind: ephemeral # shared/common.yaml:1", "limit: 7 # shared/common.yaml:2",
      "status: [200] # m.yaml:8", "for_each: # m.yaml:14", "host: http://eu # m.yaml:14",
      "url: ${vars.api}/plain # m.yaml:11, by the alias at 19", "initial: 2s # m.yaml:21",
      "url: ${vars.api}/plain # m.yaml:11, by the alias at 23",
    ] {
      #expect(lines.contains(line), "\(line) is not in:\n\(reading.text)")
    }
  }

  @Test func `names a file with a line end in its name on one line`() throws {
    let reading = try EffectiveReading(head, file: "a\nname: b\u{85}.yaml")
    try reading.expectSame()
    #expect(reading.text.contains("# a\\nname: b\\x85.yaml:2\n"))
  }

  @Test func `has a value and a place for each leaf as JSON`() throws {
    let reading = try EffectiveReading(
      head + """
        requests:
          r:
            session: quick
            request: { url: "http://h/", json: { twiceAsMuch: [1, 2.5, ~, true, "1", [], {}] } }
        """)
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = String(
      decoding: try encoder.encode(EffectiveReading.effective(reading.first)), as: UTF8.self)
    let from = #""from":"m.yaml:7""#
    let values = ["1", "2.5", "null", "true", #""1""#, "[]", "{}"].map { #"{\#(from),"value":\#($0)}"# }
    #expect(json.contains(#""json":{"twiceAsMuch":[\#(values.joined(separator: ","))]}"#), "\(json)")
    #expect(json.contains(#""url":{\#(from),"value":"http://h/"}"#))
    #expect(json.contains(#""expect":{"from":"built in","words":"any 2xx"}"#))
    #expect(json.contains(#""limit":{"from":"built in","value":5}"#))
  }

  /// The text with another profile.
  private static func text(_ text: String, in profile: Profile) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines.filter { !$0.hasPrefix("profile:") }.joined(separator: "\n")
    return rest + "\nprofile: \(profile.rawValue)\n"
  }

  /// An environment in which a manifest is read without an error, with invented values for variables without a default.
  private static func environment(for text: String) -> [String: String] {
    let names = ManifestReader(environment: [:]).read(Array(text.utf8), file: "").environment.map(\.name)
    let environments = ["a", "http://127.0.0.1:8080", "30s", "1", "true"].map { value in
      Dictionary(names.map { ($0, value) }, uniquingKeysWith: { first, _ in first })
    }
    return environments.first {
      ManifestReader(environment: $0).read(Array(text.utf8), file: "").manifest != nil
    } ?? [:]
  }
}

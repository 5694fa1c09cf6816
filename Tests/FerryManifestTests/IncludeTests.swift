import FerryManifest
import Testing

/// Reads `m.yaml`, which may include the other files.
///
/// - Parameter links: paths that are links to other paths in `files`.
private func read(
  _ files: [String: String], links: [String: String] = [:], variables: [String: String] = [:]
) -> ManifestReading {
  let loader = ManifestFiles { path throws(ManifestFiles.Unreadable) in
    guard let text = files[links[path] ?? path] else { throw .init("No such file or directory") }
    return Array(text.utf8)
  } identity: { path in
    .path(links[path] ?? path)
  }
  return ManifestReader(environment: [:], variables: variables, files: loader)
    .read(Array((files["m.yaml"] ?? "").utf8), file: "m.yaml")
}

private func told(_ reading: ManifestReading) -> [String] {
  reading.diagnostics.map { "\($0.location) \($0.code.rawValue) \($0.message)" }
}

@Suite struct `An include` {
  @Test func `merges sections name by name`() throws {
    let reading = read([
      "m.yaml": """
      version: 1
      name: photos
      include: [shared/common.yaml]
      vars: { path: catalog.json }
      fetches:
        catalog: { session: quick, request: { url: "${vars.api}/${vars.path}" }, save_to: c }
      """,
      "shared/common.yaml": "vars: { api: http://127.0.0.1 }\nsessions: { quick: {} }\n",
    ])
    #expect(told(reading) == [])
    let manifest = try #require(reading.manifest)
    #expect(manifest.fetches.map(\.request.url.constant) == ["http://127.0.0.1/catalog.json"])
    #expect(manifest.sessions.map(\.name.location.file) == ["shared/common.yaml"])
    #expect(reading.sources.map(\.file) == ["m.yaml", "shared/common.yaml"])
  }

  @Test func `is relative to the file that names it, and read once if two name it`() {
    let reading = read([
      "m.yaml": "version: 1\nname: m\ninclude: [a/one.yaml, a/two.yaml]\n",
      "a/one.yaml": "include: [../b/base.yaml]\n",
      "a/two.yaml": "include: [../b/base.yaml]\nversion: 1\n",
      "b/base.yaml": "sessions: { quick: {} }\n",
    ])
    #expect(told(reading.diagnosticsBut(.unusedSession)) == [])
    #expect(reading.manifest?.sessions.count == 1)
  }

  @Test func `of an existing name is a conflict that names both locations`() {
    let reading = read([
      "m.yaml": "version: 1\nname: m\ninclude: [a.yaml]\nsessions: { quick: {} }\nvars: { x: a }\n",
      "a.yaml": "name: n\nsessions:\n  quick: { kind: ephemeral }\nvars: { y: b }\n",
    ])
    #expect(
      told(reading) == [
        "m.yaml:2:1 F0603 'name' is defined in two files",
        "m.yaml:4:13 F0603 'quick' is defined in two files",
      ])
    #expect(
      reading.diagnostics.flatMap(\.notes).map { "\($0.location) \($0.message)" } == [
        "a.yaml:1:1 also defined here", "a.yaml:3:3 also defined here",
      ])
  }

  @Test func `in a cycle shows the path`() {
    let reading = read([
      "m.yaml": "version: 1\nname: m\ninclude: [a.yaml]\n",
      "a.yaml": "include: [b.yaml]\n", "b.yaml": "sessions: {}\ninclude:\n  - ./a.yaml\n",
    ])
    #expect(
      told(reading) == ["b.yaml:3:5 F0602 these files include each other: a.yaml → b.yaml → a.yaml"])
  }

  @Test func `under two names is one file`() {
    let reading = read(
      [
        "m.yaml": "version: 1\nname: m\ninclude: [a.yaml, /home/a.yaml]\n",
        "a.yaml": "sessions: { quick: {} }\n",
      ], links: ["/home/a.yaml": "a.yaml"])
    #expect(told(reading.diagnosticsBut(.unusedSession)) == [])
    #expect(reading.manifest?.sessions.count == 1)
    #expect(reading.sources.map(\.file) == ["m.yaml", "a.yaml"])
  }

  @Test func `in a cycle is found under any names`() {
    let links = ["/home/a.yaml": "a.yaml", "/home/m.yaml": "m.yaml"]
    let main = "version: 1\nname: m\ninclude: [a.yaml]\n"
    #expect(
      told(read(["m.yaml": main, "a.yaml": "include: [/home/a.yaml]\n"], links: links)) == [
        "a.yaml:1:11 F0602 these files include each other: a.yaml → /home/a.yaml"
      ])
    #expect(
      told(read(["m.yaml": main, "a.yaml": "include: [/home/m.yaml]\n"], links: links)) == [
        "a.yaml:1:11 F0602 these files include each other: m.yaml → a.yaml → /home/m.yaml"
      ])
  }

  @Test func `that cannot be read is reported once, without the names that it would have had`() {
    let reading = read([
      "m.yaml": """
      version: 1
      include: [gone.yaml]
      fetches: { a: { session: quick, request: { url: "${vars.api}/a" }, save_to: c, mistake: 1 } }
      """
    ])
    #expect(
      told(reading) == [
        "m.yaml:2:11 F0601 'gone.yaml' cannot be read: No such file or directory",
        "m.yaml:3:80 F0201 unknown key 'mistake'",
      ])
  }

  @Test func `with mistakes has them reported at their locations, with its own lines`() {
    let reading = read([
      "m.yaml": "version: 1\nname: m\ninclude: [a.yaml]\n",
      "a.yaml": "sessions:\n  quick: { knd: default, headers: { X: \"${file.name}\" } }\n",
    ])
    #expect(
      told(reading.diagnosticsBut(.unusedSession)) == [
        "a.yaml:2:12 F0201 unknown key 'knd'", "a.yaml:2:41 F0409 '${file.name}' has no value in a session",
      ])
    let text = DiagnosticFormatter(sources: reading.sources).text(reading.diagnostics)
    #expect(text.contains("   2 |   quick: { knd: default"))
  }

  @Test func `of twenty-one levels is rejected`() {
    var files = ["m.yaml": "version: 1\nname: m\ninclude: [1.yaml]\n"]
    for level in 1...21 { files["\(level).yaml"] = "include: [\(level + 1).yaml]\n" }
    #expect(told(read(files)).map { $0.prefix(17) } == ["20.yaml:1:11 F060"])
  }

  @Test func `that is no mapping, or no list of paths, is rejected`() {
    #expect(
      told(read(["m.yaml": "version: 1\nname: m\ninclude: [a.yaml]\n", "a.yaml": "- x\n"])) == [
        "a.yaml:1:1 F0301 an included file must be a mapping, found a list"
      ])
    #expect(
      told(read(["m.yaml": "version: 1\nname: m\ninclude: a.yaml\n", "a.yaml": ""])) == [
        "m.yaml:3:10 F0301 'include' must be a list, found the string 'a.yaml'"
      ])
  }

  @Test func `that is no path is reported once`() {
    let reading = read(["m.yaml": "version: 1\nname: m\ninclude: [null, \"a\\0b\", '']\n"])
    #expect(
      told(reading) == [
        "m.yaml:3:11 F0301 'include' must be a path, found nothing",
        "m.yaml:3:17 F0310 'include' contains a control character", "m.yaml:3:25 F0309 'include' is empty",
      ])
  }

  @Test(arguments: [
    ("a.yaml", "the path is relative to the folder of m.yaml"),
    ("~/a.yaml", "specify a readable file"), ("/a.yaml", "specify a readable file"),
    ("${env.A:-a}.yaml", "includes are read before references are resolved; write a literal path"),
  ])
  func `that cannot be read is reported with a remedy`(_ path: String, _ help: String) {
    let reading = read(["m.yaml": "version: 1\nname: m\ninclude: ['\(path)']\n"])
    #expect(reading.diagnostics.map(\.code) == [.unreadableInclude])
    #expect(reading.diagnostics.map(\.help) == [help])
  }

  @Test func `of an empty file is reported as empty`() {
    let reading = read(["m.yaml": "version: 1\nname: m\ninclude: [a.yaml]\n", "a.yaml": "# nothing\n"])
    #expect(told(reading) == ["a.yaml:1:1 F0104 the included file is empty"])
    #expect(
      reading.diagnostics.map(\.help) == [
        "add manifest keys such as 'sessions:', or remove the include"
      ])
    #expect(reading.diagnostics.flatMap(\.notes).map { "\($0.location)" } == ["m.yaml:3:11"])
  }

  @Test func `may have the same version, and no other`() {
    let main = "version: 1\nname: m\ninclude: [a.yaml]\n"
    #expect(told(read(["m.yaml": main, "a.yaml": "version: 1\n"])) == [])
    #expect(
      told(read(["m.yaml": main, "a.yaml": "version: 2\n"])) == [
        "m.yaml:1:1 F0603 'version' is defined in two files"
      ])
  }
}

extension ManifestReading {
  /// The same reading without the diagnostics of one code that is irrelevant for the test.
  func diagnosticsBut(_ code: DiagnosticCode) -> ManifestReading {
    var reading = self
    reading.diagnostics.removeAll { $0.code == code }
    return reading
  }
}

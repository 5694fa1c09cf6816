import FerryManifest
import Testing

@Suite struct `Texts with references` {
  private func url(
    _ text: String, vars: String = "{}", environment: [String: String] = [:],
    variables: [String: String] = [:]
  ) -> [Template.Segment]? {
    read(
      head + "vars: \(vars)\nrequests: { a: { session: quick, request: { url: \(text) } } }",
      environment: environment, variables: variables
    ).manifest?.requests.first?.request.url.segments
  }

  @Test func `have variables as the author's words and the environment as values`() {
    #expect(
      url("'http://${vars.h}/${env.X}/b'", vars: "{ h: \"x${env.Y}\" }", environment: ["X": "a b", "Y": "y"])
        == [.literal("http://xy/"), .value("a b"), .literal("/b")])
  }

  @Test func `use a default if the environment has no value or an empty one`() {
    #expect(url("'http://h/${env.X:-d}'") == [.literal("http://h/"), .value("d")])
    #expect(url("'http://h/${env.X:-d}'", environment: ["X": ""]) == [.literal("http://h/"), .value("d")])
    #expect(url("'http://h/${env.X:-}'") == [.literal("http://h/")])
    #expect(url("'http://h/${env.X}'", environment: ["X": ""]) == [.literal("http://h/")])
  }

  @Test func `have an escape, and leave other dollar signs alone`() {
    #expect(url("'http://h/$${x}/$5$$'") == [.literal("http://h/${x}/$5$$")])
  }

  @Test func `prefer the command line to vars, without reading the replaced value`() {
    #expect(
      url("'http://${vars.h}/'", vars: "{ h: \"${env.NONE}\" }", variables: ["h": "${x}"]) == [
        .literal("http://${x}/")
      ])
  }

  @Test func `report an undeclared variable on the command line`() {
    expectMistakes(
      "version: 1\nname: n\n1️⃣vars: { api: x }\n",
      [("1️⃣", "--var apj: the manifest does not declare this variable")],
      variables: ["apj": "y"])
    expectMistakes(
      "1️⃣version: 1\nname: n\n", [("1️⃣", "--var apj: the manifest does not declare this variable")],
      variables: ["apj": "y"])
  }

  @Test(
    "have the location of each reference, however the text is quoted",
    arguments: [
      "http://h/1️⃣${run.x}", "'http://it''s/é1️⃣${run.x}'", "\"http://h/\\u00e9\\x41\\t1️⃣${run.x}\"",
      "\"1️⃣${run.x}\"", "|\n    http://h/1️⃣${run.x}",
    ])
  func place(_ text: String) {
    expectMistakes(
      head + "requests:\n a:\n  session: quick\n  request:\n   url: \(text)",
      [("1️⃣", "unknown reference '${run.x}'")])
  }

  @Test(
    "have their mistakes reported",
    arguments: [
      ("'http://h/1️⃣${run.id'", "'${' is not closed"),
      ("'http://h/1️⃣${}'", "unknown reference '${}'"),
      ("'http://h/1️⃣${requests.a}'", "'${requests.a}' does not name a capture"),
      ("'http://h/1️⃣${env.}'", "'${env.}' does not name an environment variable"),
      ("'http://h/1️⃣${env.A:-${x}}'", "a default cannot contain a reference"),
      ("'http://h/1️⃣${file.name}'", "'${file.name}' has no value in a request"),
      ("1️⃣''", "this URL is empty"), ("1️⃣http:///x", "this URL has no host"),
      ("1️⃣http://", "this URL has no host"),
      ("1️⃣'h/${run.id}'", "a URL must begin with http:// or https://"),
    ])
  func mistakes(_ text: String, _ message: String) {
    expectMistakes(head + "requests: { a: { session: quick, request: { url: \(text) } } }", [("1️⃣", message)])
  }

  @Test func `are bounded if variables double repeatedly`() {
    var vars = "vars:\n  v0: \(String(repeating: "x", count: 1_000))\n"
    for level in 1..<40 { vars += "  v\(level): \"${vars.v\(level - 1)}${vars.v\(level - 1)}\"\n" }
    let messages = read("version: 1\nname: n\n" + vars).diagnostics.map(\.message)
    #expect(messages == ["variables expand to more than 64 MiB of text in total"])
  }

  @Test func `are bounded if variables nest too deeply`() {
    var vars = "vars:\n"
    for level in 0..<10_000 { vars += "  v\(level): \"${vars.v\(level + 1)}\"\n" }
    let reading = read("version: 1\nname: n\n" + vars)
    #expect(reading.manifest == nil)
    #expect(reading.diagnostics.first?.message == "variables are nested more than 50 levels deep")
  }
}

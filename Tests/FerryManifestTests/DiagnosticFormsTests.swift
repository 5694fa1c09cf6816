import FerryManifest
import Testing

@Suite struct `The forms of diagnostics for other programs` {
  private func source(_ text: String, file: String) -> SourceText { SourceText(Array(text.utf8), file: file) }

  private func diagnostic(_ file: String, _ message: String = "no", help: String? = nil) -> Diagnostic {
    Diagnostic(.unknownKey, at: SourceLocation(file: file, line: 2, column: 1), message, help: help)
  }

  // MARK: - GitHub

  @Test func `escape characters that would end a workflow command`() {
    let command = GitHubCommands(sources: []).text([
      diagnostic("a,b:c%.yaml", "100%\r\n::error::x", help: "a, b: c")
    ])
    #expect(
      command == """
        ::error file=a%2Cb%3Ac%25.yaml,line=2,col=1,title=F0201::100%25%0D%0A::error::x%0Ahelp: a, b: c

        """)
  }

  @Test func `give GitHub the severity, the end position and the notes`() {
    var warning = diagnostic("m.yaml", "odd")
    warning.severity = .warning
    warning.notes = [.init("first here", at: SourceLocation(file: "m.yaml", line: 1, column: 1))]
    let command = GitHubCommands(sources: [source("one: 1\nétwo: 2\n", file: "m.yaml")]).text([warning])
    #expect(
      command == """
        ::warning file=m.yaml,line=2,col=1,endColumn=4,title=F0201::odd%0Anote: m.yaml:1:1: first here

        """)
  }

  // MARK: - SARIF

  private func log(_ diagnostics: [Diagnostic], _ sources: [SourceText] = []) -> SARIFLog.Run? {
    SARIFLog(diagnostics, sources: sources, version: "1.2.3").runs.first
  }

  @Test func `have every code as a rule of SARIF, which results point at`() throws {
    let run = try #require(log([diagnostic("m.yaml", help: "remove it")]))
    #expect(run.tool.driver.rules.map(\.id) == DiagnosticCode.allCases.map(\.rawValue))
    #expect(run.tool.driver.version == "1.2.3")
    let result = try #require(run.results.first)
    let rule = run.tool.driver.rules[result.ruleIndex]
    #expect(rule.id == result.ruleId && rule.id == "F0201" && rule.name == "UnknownKey")
    #expect(rule.defaultConfiguration.level == .error)
    #expect(result.message.text == "no\nhelp: remove it")
    #expect(run.tool.driver.rules.first { $0.id == "F0701" }?.defaultConfiguration.level == .warning)
  }

  @Test func `give SARIF the end of a value, in code points`() throws {
    let found = Diagnostic(
      .unknownKey, at: SourceLocation(file: "m.yaml", line: 2, column: 3), "no",
      notes: [.init("there", at: SourceLocation(file: "other.yaml", line: 7, column: 8))])
    let run = try #require(log([found], [source("a:\n  é👩‍🚀: 1\n", file: "m.yaml")]))
    let result = try #require(run.results.first)
    // The line contains an e with an accent, and an emoji of three code points.
    let region = try #require(result.locations.first?.physicalLocation.region)
    #expect((region.startLine, region.startColumn, region.endColumn) == (2, 3, 7))
    let note = try #require(result.relatedLocations?.first)
    #expect(note.message?.text == "there")
    #expect(note.physicalLocation.region.startLine == 7)
    #expect(note.physicalLocation.region.endColumn == nil)
  }

  @Test(arguments: [
    ("m.yaml", "m.yaml"), ("./jobs/m.yaml", "jobs/m.yaml"), ("../m.yaml", "../m.yaml"),
    ("a/../m.yaml", "m.yaml"), ("../../a/./m.yaml", "../../a/m.yaml"),
    ("my photos/100%.yaml", "my%20photos/100%25.yaml"), ("c:d.yaml", "c%3Ad.yaml"),
    ("ä?#.yaml", "%C3%A4%3F%23.yaml"),
    ("/srv/jobs/m.yaml", "file:///srv/jobs/m.yaml"), ("//srv//m.yaml", "file:///srv/m.yaml"),
    ("/dev/stdin", "file:///dev/stdin"),
  ])
  func `name files by RFC 3986 URI references`(_ path: String, _ uri: String) throws {
    let run = try #require(log([diagnostic(path)]))
    #expect(run.results.first?.locations.first?.physicalLocation.artifactLocation.uri == uri)
  }
}

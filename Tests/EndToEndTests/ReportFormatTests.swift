import Foundation
import Testing

/// One run, with hostile names and failures, in each format.
@Suite struct `A report in another format` {
  /// Names that end a construct of one of the formats, in addition to those of `HostileName`.
  private static let names = [
    "a]]>b", "::error::x", "%0A::error::x", "a|b|c", "<script>alert(1)<", "</script>", "&amp;<!--",
    "line\nbreak", "`code`",
    "![x](http:", "@user #1", "www.example.com", "**bold** _it_", "tab\there", "ends with spaces  ",
  ]

  private struct Run: Sendable {
    var job: Workspace
    var report: RunReport
    var status: Int32
  }

  /// A job in which the server rejects the files of one upload. Names are sent in the query, which may contain any
  /// bytes.
  private static let run = Task {
    let receiver = try await ReceiverProcess.start(faults: ["file:match=/files/bad,status=403"])
    let nodes = """
      uploads:
        good:
          session: uploads
          files: { root: files/good }
          transfer: { request: { url: "${vars.api}/files/good?${file.path}" } }
        bad:
          session: uploads
          files: { root: files/bad }
          transfer: { request: { url: "${vars.api}/files/bad?${file.path}" } }
      requests:
        note:
          session: quick
          needs: [good]
          request: { url: "${vars.api}/done", json: {} }
        last:
          session: quick
          needs: [bad]
          request: { url: "${vars.api}/done", json: {} }
      """
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    _ = try job.folder.makeFolder("files/good")
    _ = try job.folder.makeFolder("files/bad")
    for folder in ["good", "bad"] {
      for name in HostileName.all.map(\.bytes) + names.map({ Array($0.utf8) }) {
        try TestFiles.write(Data("x".utf8), to: Array(job.folder.path("files/\(folder)/").utf8) + name)
      }
    }
    let reports = ["ndjson", "junit", "ctrf", "github", "markdown", "text"].flatMap {
      ["--report", "\($0)=out.\($0)"]
    }
    let (command, report) = try await job.run(["--items", "all"] + reports)
    return Run(job: job, report: report, status: command.status)
  }

  private static var count: Int { HostileName.all.count + names.count }

  @Test func `is written beside the JSON report, and printed by ferry report`() async throws {
    let run = try await Self.run.value
    #expect(run.status == 1)
    #expect(run.report.items.count == 2 * Self.count)
    for format in ["ndjson", "junit", "ctrf", "github", "markdown", "text"] {
      let printed = try await run.job.ferry("report", run.report.run.id, "--format", format)
      #expect(printed.status == 0, "\(printed.stderr)")
      #expect(printed.stdout == run.job.folder.text("out.\(format)") && !printed.stdout.isEmpty, "\(format)")
    }
  }

  @Test func `is one JSON object per line (ndjson)`() async throws {
    let run = try await Self.run.value
    struct Line: Decodable { var type: String }
    let lines = run.job.folder.text("out.ndjson").split(separator: "\n")
    let types = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)).type }
    #expect(types.prefix(3) == ["report", "run", "totals"])
    #expect(types.count { $0 == "item" } == 2 * Self.count)
    #expect(types.count { $0 == "node" } == run.report.nodes.count)
  }

  @Test func `is valid JUnit XML with a case for each item and each request (junit)`() async throws {
    let run = try await Self.run.value
    let cases = try await ReportFormats.cases(ofJUnit: run.job.folder.path("out.junit"))
    // A space and a combining mark after it are one character.
    #expect(cases.count { $0.utf8.starts(with: "good ".utf8) && $0.hasSuffix(" passed") } == Self.count)
    #expect(cases.count { $0.utf8.starts(with: "bad ".utf8) && $0.hasSuffix(" failure") } == Self.count)
    #expect(cases.contains("requests note passed") && cases.contains("requests last skipped"))
    #expect(cases.contains("bad a]]>b failure") && cases.contains("bad </script> failure"))
    #expect(cases.contains(#"bad "line\nbreak" failure"#), "\(cases)")
    #expect(cases.count == 2 * Self.count + 2)
  }

  @Test func `is valid CTRF with a test for each item and each request (ctrf)`() async throws {
    let run = try await Self.run.value
    let tests = try await ReportFormats.tests(ofCTRF: run.job.folder.path("out.ctrf"))
    #expect(tests.count == 2 * Self.count + 2)
    #expect(tests.contains("a|b|c passed") && tests.contains("a|b|c failed"))
    #expect(tests.contains("last skipped"))
  }

  @Test func `is at most ten errors, ten warnings and a notice (github)`() async throws {
    let run = try await Self.run.value
    let lines = run.job.folder.text("out.github").split(separator: "\n")
    let pattern = /::(error|warning|notice) (file=job\.yaml,)?title=[^:,\n]*::[^\r\n]+/
    for line in lines { #expect(line.wholeMatch(of: pattern) != nil, "\(line)") }
    #expect((1...10).contains(lines.count { $0.hasPrefix("::error ") }))
    #expect(lines.count { $0.hasPrefix("::warning ") } <= 10)
    #expect(lines.count { $0.hasPrefix("::notice ") } == 1)
    #expect(lines.contains { $0.contains(" × ") }, "\(lines)")
  }

  @Test func `has no elements, links and cells other than its own (markdown)`() async throws {
    let run = try await Self.run.value
    let (tags, cells, text) = try await ReportFormats.rendered(markdown: run.job.folder.path("out.markdown"))
    #expect(tags == ["h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "sub"], "\(tags)")
    #expect(cells == [4, 5, 6])
    #expect(text.contains("Not everything was delivered: \(Self.count) items delivered"), "\(text)")
  }

  @Test func `is appended to the file that GITHUB_STEP_SUMMARY names (markdown)`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a")
    try job.folder.write(Data("# Before\n".utf8), to: "summary.md")
    let summary = job.folder.path("summary.md")
    for (number, options) in [["--report", "markdown=\(summary)"], ["--report", "markdown=other.md"]]
      .enumerated()
    {
      let command = try await job.start(
        ["run", "job.yaml"] + options, environment: ["GITHUB_STEP_SUMMARY": summary]
      ).end()
      #expect(command.status == 0, "\(command.stderr)")
      #expect(job.folder.text("summary.md").hasPrefix("# Before\n###"))
      #expect(job.folder.text("summary.md").split(separator: "###").count == 2)
      #expect(job.folder.text("other.md").hasPrefix("###") == (number == 1))
    }
  }

  @Test func `is refused before any work if its format is unknown or its file is used twice`() async throws {
    let job = try Workspace(JobText.text(server: "http://127.0.0.1:1", JobText.puts))
    try job.write("a", to: "a")
    for (options, message) in [
      (["--report", "jnuit=a.xml"], "there is no format 'jnuit'"),
      (["--report", "junit=a", "--report", "json=a"], "two reports cannot be written to a"),
      (["--report", "junit=none/a"], "the report cannot be written there: No such file or directory"),
    ] {
      let command = try await job.start(["run", "job.yaml"] + options).end()
      #expect(command.status == 2)
      #expect(command.stderr.contains(message), "\(command.stderr)")
    }
    #expect(try job.stateFiles().isEmpty)
  }

  @Test func `has one case for items that it does not list`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:match=/b,status=500,times=1"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for name in ["a", "b", "c", "d"] { try job.write(name, to: name) }
    _ = try await job.run("--report", "junit=first.xml", "--limit", "3")
    let first = try await ReportFormats.cases(ofJUnit: job.folder.path("first.xml"))
    #expect(
      first == ["files b passed", "files 2 other items: done passed", "files 1 other item: waiting skipped"])
    _ = try await job.run("--report", "junit=second.xml")
    let second = try await ReportFormats.cases(ofJUnit: job.folder.path("second.xml"))
    #expect(second == ["files 4 items: done passed"])
    #expect(job.folder.text("first.xml").contains("<flakyFailure type=\"http_status\""))
  }
}

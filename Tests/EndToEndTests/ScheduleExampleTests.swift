import Foundation
import Testing

/// examples/ci, examples/cron and examples/systemd.
@Suite struct `An example of a schedule` {
  private static let files = [
    "ci/github.yaml", "ci/gitlab.yaml", "cron/crontab", "systemd/ferry-photos.service",
    "systemd/ferry-photos.timer",
  ]

  private func text(_ file: String) throws -> String {
    try String(contentsOf: Product.package.appending(path: "examples/\(file)"), encoding: .utf8)
  }

  @Test func `is accepted by systemd-analyze`() async throws {
    guard let analyze = RunningCommand.find("systemd-analyze") else {
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: no unit is verified: systemd-analyze is not there; run scripts/setup test\n\n".utf8
        ))
      return
    }
    let folder = try TemporaryFolder()
    for name in ["ferry-photos.service", "ferry-photos.timer"] {
      // The program and the user must exist.
      let unit = try text("systemd/\(name)").replacing("/usr/local/bin/ferry", with: Product.path("ferry"))
        .replacing("User=ferry\n", with: "User=root\n")
      try folder.write(Data(unit.utf8), to: name)
    }
    let command = try await Command.run(
      analyze, ["verify", folder.path("ferry-photos.service"), folder.path("ferry-photos.timer")])
    #expect(command.status == 0, "\(command.stderr)")
    // Mistakes in the machine's other units do not matter.
    #expect(!command.stderr.contains("ferry-photos"), "\(command.stderr)")
  }

  /// A pipeline with the schema that validates it, and a change that makes it invalid.
  private static let pipelines = [
    (file: "ci/github.yaml", schema: "github-workflows", right: "runs-on:", wrong: "runs_on:"),
    (file: "ci/gitlab.yaml", schema: "gitlab-ci", right: "when: always", wrong: "when: sometimes"),
  ]

  @Test(arguments: pipelines)
  func `is valid by the published schema of its service, if it is a pipeline`(
    _ pipeline: (file: String, schema: String, right: String, wrong: String)
  ) async throws {
    guard let python = PythonModules.python(with: ["check_jsonschema"]) else {
      throw CommandFailure(description: "Python has no check-jsonschema; run scripts/setup test")
    }
    // check-jsonschema contains copies of the schemas of SchemaStore and GitLab, so nothing is downloaded.
    let check = ["-m", "check_jsonschema", "--builtin-schema", "vendor.\(pipeline.schema)"]
    let command = try await Command.run(python, check + [Product.source("examples/\(pipeline.file)")])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let folder = try TemporaryFolder()
    let wrong = try text(pipeline.file).replacing(pipeline.right, with: pipeline.wrong)
    try folder.write(Data(wrong.utf8), to: "wrong.yaml")
    #expect(try await Command.run(python, check + [folder.path("wrong.yaml")]).status == 1)
  }

  @Test(arguments: files)
  func `uses options that exist`(_ file: String) async throws {
    let lines = try text(file).replacing("\\\n", with: " ").split(separator: "\n").filter {
      !$0.hasPrefix("#")
    }
    for name in ["run", "check", "report"] {
      let command = name == "report" ? ["report", "show"] : [name]
      let help = try await Command.run(Product.path("ferry"), ["help"] + command).stdout
      for line in lines {
        guard let start = line.range(of: "ferry \(name) ")?.upperBound else { continue }
        for word in line[start...].split(whereSeparator: { " ;|=".contains($0) }) where word.hasPrefix("--") {
          #expect(help.contains(word), "\(file): ferry \(name) \(word)")
        }
      }
    }
  }
}

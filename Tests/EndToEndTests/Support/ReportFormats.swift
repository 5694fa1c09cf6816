import Foundation

/// The published schemas of report formats, and programs that read these formats.
///
/// The schemas are not part of this repository: `FERRY_JUNIT_SCHEMA` names a copy of the Jenkins plugin's junit-10.xsd
/// (https://github.com/jenkinsci/xunit-plugin), and `FERRY_CTRF_SCHEMA` one of https://ctrf.io/schema.
enum ReportFormats {
  /// The schema of a format, or `nil`. In that case, a message is printed on standard error, because an unnoticed
  /// skip would look like a pass.
  static func schema(_ variable: String) -> String? {
    let path = ProcessInfo.processInfo.environment[variable] ?? ""
    if FileManager.default.isReadableFile(atPath: path) { return path }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: a report is not held against its schema: \(variable) names no file\n\n".utf8))
    return nil
  }

  /// Runs a Python program with these modules.
  static func python(_ modules: [String], _ program: String, _ arguments: [String]) async throws -> Command {
    guard let python = PythonModules.python(with: modules) else {
      throw CommandFailure(description: "Python has no modules \(modules); run scripts/setup test")
    }
    return try await Command.run(python, ["-c", program] + arguments)
  }

  /// The test cases of a JUnit report, `CLASSNAME NAME OUTCOME`; also validates it if there is a schema.
  static func cases(ofJUnit path: String) async throws -> [String] {
    let program = """
      import sys
      from lxml import etree
      document = etree.parse(sys.argv[1], etree.XMLParser(resolve_entities=False, no_network=True))
      if len(sys.argv) > 2:
          etree.XMLSchema(etree.parse(sys.argv[2])).assertValid(document)
      suite = document.getroot().find("testsuite")
      cases = suite.findall("testcase")
      for key, tag in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]:
          assert int(suite.get(key)) == sum(case.find(tag) is not None for case in cases), key
      assert int(suite.get("tests")) == len(cases)
      for case in cases:
          outcome = [child.tag for child in case if child.tag != "flakyFailure"] or ["passed"]
          print(case.get("classname"), case.get("name"), *outcome, sep="\\t")
      """
    let command = try await python(
      ["lxml"], program, [path] + (schema("FERRY_JUNIT_SCHEMA").map { [$0] } ?? []))
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return command.stdout.replacing("\t", with: " ").split(separator: "\n").map(String.init)
  }

  /// The tests of a CTRF report, `NAME STATUS`; also validates it if there is a schema.
  static func tests(ofCTRF path: String) async throws -> [String] {
    let program = """
      import json, sys
      from jsonschema import FormatChecker, validators
      with open(sys.argv[1]) as file: report = json.load(file)
      if len(sys.argv) > 2:
          with open(sys.argv[2]) as file: schema = json.load(file)
          Validator = validators.validator_for(schema)
          mistakes = [f"{list(m.absolute_path)}: {m.message}"
                      for m in Validator(schema, format_checker=FormatChecker()).iter_errors(report)]
          assert not mistakes, mistakes[:5]
      summary, tests = report["results"]["summary"], report["results"]["tests"]
      assert summary["tests"] == len(tests)
      for status in ["passed", "failed", "skipped", "pending", "other"]:
          assert summary[status] == sum(test["status"] == status for test in tests), status
      for test in tests: print(test["name"], test["status"])
      """
    let command = try await python(
      ["jsonschema"], program, [path] + (schema("FERRY_CTRF_SCHEMA").map { [$0] } ?? []))
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return command.stdout.split(separator: "\n").map(String.init)
  }

  /// The HTML elements that a Markdown renderer creates from a report, and the number of cells of each row of its
  /// tables.
  static func rendered(markdown path: String) async throws -> (
    tags: Set<String>, cells: Set<Int>, text: String
  ) {
    let program = """
      import json, sys
      from html.parser import HTMLParser
      from markdown_it import MarkdownIt
      with open(sys.argv[1], encoding="utf-8") as file: text = file.read()
      class Reader(HTMLParser):
          tags, cells, rows, words = set(), 0, [], []
          def handle_starttag(self, tag, attributes):
              self.tags.add(tag)
              if tag == "tr": self.cells = 0
              if tag in ("td", "th"): self.cells += 1
          def handle_endtag(self, tag):
              if tag == "tr": self.rows.append(self.cells)
          def handle_data(self, data): self.words.append(data)
      reader = Reader()
      reader.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
      print(json.dumps([sorted(reader.tags), sorted(set(reader.rows)), "".join(reader.words)]))
      """
    let command = try await python(["markdown_it"], program, [path])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    struct Rendered: Decodable {
      var tags: Set<String>
      var cells: Set<Int>
      var text: String

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        tags = try list.decode(Set<String>.self)
        cells = try list.decode(Set<Int>.self)
        text = try list.decode(String.self)
      }
    }
    let rendered = try JSONDecoder().decode(Rendered.self, from: Data(command.stdout.utf8))
    return (rendered.tags, rendered.cells, rendered.text)
  }
}

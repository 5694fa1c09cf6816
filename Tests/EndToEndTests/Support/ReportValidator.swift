import Foundation
import Synchronization

/// Validates every report that the tests read against the schema that ferry prints.
///
/// One Python process with jsonschema validates all of them, because it takes longer to start than a test. It exits when
/// the tests exit, which closes its standard input.
final class ReportValidator: Sendable {
  /// `nil` if there is no validator. In that case, a message was printed on standard error.
  static let shared: ReportValidator? = start()

  private struct Pipes {
    var input: FileHandle
    var output: FileHandle
    /// The process object, which is kept alive, and the received bytes of the next response.
    var process: Process
    var rest: [UInt8] = []
  }

  private let pipes: Mutex<Pipes>

  private init(_ pipes: sending Pipes) { self.pipes = Mutex(pipes) }

  /// Reads a JSON document from each line, and responds with a line that lists the document's mistakes as strings.
  ///
  /// In a list of more than 2,000 items, only every nth item is validated, because each takes a millisecond.
  private static let program = """
    import json, sys
    from jsonschema import Draft202012Validator, FormatChecker
    schema = json.loads(sys.argv[1])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    for line in sys.stdin.buffer:
        try:
            report = json.loads(line)
            items = report.get("items", [])
            if len(items) > 2000: report["items"] = items[::len(items) // 1000]
            mistakes = [f"/{'/'.join(map(str, m.absolute_path))}: {m.message}"[:500]
                        for m in validator.iter_errors(report)]
        except ValueError as error:
            mistakes = [str(error)]
        sys.stdout.write(json.dumps(mistakes[:20]) + "\\n")
        sys.stdout.flush()
    """

  private static func start() -> ReportValidator? {
    guard let python = PythonModules.python(with: ["jsonschema"]) else {
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: reports are not held against their schema: python3-jsonschema is not there; run scripts/setup test\n\n"
            .utf8))
      return nil
    }
    do {
      let schema = Process()
      let printed = Pipe()
      schema.executableURL = URL(filePath: Product.path("ferry"))
      schema.arguments = ["schema", "--report"]
      schema.standardOutput = printed
      try schema.run()
      let text = try printed.fileHandleForReading.readToEnd() ?? Data()
      schema.waitUntilExit()

      let process = Process()
      let (input, output) = (Pipe(), Pipe())
      process.executableURL = URL(
        filePath: python.contains("/") ? python : RunningCommand.find(python) ?? python)
      process.arguments = ["-c", program, String(decoding: text, as: UTF8.self)]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      return ReportValidator(
        Pipes(
          input: input.fileHandleForWriting, output: output.fileHandleForReading, process: process))
    } catch {
      fatalError("the validator of reports cannot be started: \(error)")
    }
  }

  /// The mistakes in a report; empty if it is valid.
  func mistakes(of report: Data) throws -> [String] {
    // A string in JSON contains no line feed.
    let line = report.filter { $0 != 0x0A && $0 != 0x0D } + [0x0A]
    return try pipes.withLock { pipes in
      try pipes.input.write(contentsOf: line)
      while true {
        if let end = pipes.rest.firstIndex(of: 0x0A) {
          let response = Data(pipes.rest[..<end])
          pipes.rest.removeFirst(end + 1)
          return try JSONDecoder().decode([String].self, from: response)
        }
        let more = pipes.output.availableData
        guard !more.isEmpty else { throw CommandFailure(description: "the validator of reports has exited") }
        pipes.rest += more
      }
    }
  }

  /// Throws if the report is not valid.
  static func check(_ report: Data) throws {
    let mistakes = try shared?.mistakes(of: report) ?? []
    guard mistakes.isEmpty else {
      throw CommandFailure(
        description: "the report violates its schema (ferry schema --report):\n"
          + mistakes.joined(separator: "\n"))
    }
  }
}

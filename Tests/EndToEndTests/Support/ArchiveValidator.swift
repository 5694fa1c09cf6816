import Foundation
import Testing

/// Validates HTTP Archives with the model of another project, hario-core from PyPI.
enum ArchiveValidator {
  /// Fails the test if the file is not valid. If hario-core is missing, reports this on standard error.
  static func expectValid(
    _ path: String, entries: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    guard let python = PythonModules.python(with: ["hario_core"]) else {
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: traces are not validated: hario-core is not there; run scripts/setup test\n\n".utf8
        )
      )
      return
    }
    let program = """
      import json, sys
      from hario_core.models.har_1_2 import HarLog
      print(len(HarLog.model_validate(json.load(open(sys.argv[1]))["log"]).entries))
      """
    let command = try await Command.run(python, ["-c", program, path])
    #expect(command.status == 0, "\(command.stderr)", sourceLocation: sourceLocation)
    guard let entries else { return }
    #expect(command.stdout == "\(entries)\n", sourceLocation: sourceLocation)
  }
}

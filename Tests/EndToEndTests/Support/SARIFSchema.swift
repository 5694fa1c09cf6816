import Foundation

/// The SARIF 2.1.0 schema, and validation against it with Python's jsonschema.
///
/// The schema is not part of this repository: `FERRY_SARIF_SCHEMA` names a copy of the file that OASIS has published as
/// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
enum SARIFSchema {
  private static let path = ProcessInfo.processInfo.environment["FERRY_SARIF_SCHEMA"] ?? ""

  /// Whether logs can be validated. If not, a message is printed, because an unnoticed skip would look like a pass.
  static var isThere: Bool {
    get async {
      var missing: [String] = []
      if !FileManager.default.isReadableFile(atPath: path) {
        missing.append("FERRY_SARIF_SCHEMA names no file")
      }
      let python = try? await Command.run("python3", ["-c", "import jsonschema"])
      // If python3 is missing, the command cannot be run.
      if python?.status != 0 { missing.append("python3-jsonschema is not there; run scripts/setup test") }
      guard !missing.isEmpty else { return true }
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: SARIF is not held against its schema: \(missing.joined(separator: ", "))\n\n".utf8)
      )
      return false
    }
  }

  /// Exits with 0 if the file is valid. Otherwise, it exits with 1 and prints a line for each mistake.
  static func validate(_ log: String) async throws -> Command {
    let program = """
      import json, sys
      from jsonschema import FormatChecker, validators
      with open(sys.argv[1]) as file: schema = json.load(file)
      with open(sys.argv[2]) as file: log = json.load(file)
      Validator = validators.validator_for(schema)
      Validator.check_schema(schema)
      mistakes = list(Validator(schema, format_checker=FormatChecker()).iter_errors(log))
      for mistake in mistakes: print("/".join(map(str, mistake.absolute_path)), mistake.message)
      sys.exit(1 if mistakes else 0)
      """
    return try await Command.run("python3", ["-c", program, path, log])
  }
}

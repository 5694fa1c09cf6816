import FerryManifest
import Foundation

/// Validates a whole corpus with Python's `jsonschema`, in one process.
struct SchemaValidator {
  struct Document {
    var name: String
    var value: OrderedJSON
    /// The part of the schema against which the document is checked; `nil` for the whole schema.
    var pointer: String?
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// A Python that has the module: the first one in PATH, or Debian's.
  static let python: String? = {
    let found = ["python3", "/usr/bin/python3"].first { python in
      // A Python that cannot be started does not have the module.
      (try? run(python, ["-c", "import jsonschema"]))?.status == 0
    }
    if found == nil {
      FileHandle.standardError.write(
        Data(
          "\n!!!! SKIPPED: the JSON schema is not checked: python3 and python3-jsonschema are missing; run scripts/setup test\n\n"
            .utf8))
    }
    return found
  }()

  let schema: OrderedJSON

  /// The reason why the schema rejects each invalid document, by the document's name.
  ///
  /// - Throws: also if the schema itself is invalid.
  func refusals(of documents: [Document]) throws -> [String: String] {
    guard let python = Self.python else { throw Failure(description: "no python3 with jsonschema") }
    let lines =
      [schema.line]
      + documents.map { document in
        var members: [OrderedJSON.Member] = [.init("value", document.value)]
        if let pointer = document.pointer { members.append(.init("at", .string(pointer))) }
        return OrderedJSON.object(members).line
      }
    let file = FileManager.default.temporaryDirectory.appending(
      path: "ferry-schema-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }  // A remaining file does no harm.
    try Data(lines.joined(separator: "\n").utf8).write(to: file)

    let end = try Self.run(python, [Corpus.folder.appending(path: "Agreement/validate.py").path, file.path])
    guard end.status == 0 else { throw Failure(description: "validate.py ended with \(end.status)") }
    var output = end.output.split(separator: "\n").map(String.init)
    guard output.popLast() == "checked \(documents.count)" else {
      throw Failure(description: "validate.py has not checked \(documents.count) documents")
    }
    return try Dictionary(
      output.map { line in
        let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = Int(parts[0]), documents.indices.contains(number) else {
          throw Failure(description: "validate.py said: \(line)")
        }
        return (documents[number].name, parts[1])
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func run(_ python: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [python] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    // If the module is missing, the check for it prints an error message, which is discarded.
    if arguments.first == "-c" { process.standardError = FileHandle.nullDevice }
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}

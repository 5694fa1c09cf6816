import FerryManifest
import Testing

/// A warning that a test expects at a mark.
struct ExpectedWarning {
  var mark: Character
  var code: DiagnosticCode
  var message: String
  var help: String
  var notes: [(mark: Character, message: String)] = []
}

/// Reads a marked text and compares its warnings whose codes begin with F07 word for word. The text must have no errors.
func expectWarnings(
  _ marked: String, _ expected: [ExpectedWarning], environment: [String: String] = [:],
  variables: [String: String] = [:], sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  let input = MarkedText(marked)
  let reading = read(input.text, environment: environment, variables: variables)
  #expect(reading.manifest != nil, "\(reading.diagnostics)", sourceLocation: sourceLocation)
  let found = reading.diagnostics.filter { $0.code.rawValue.hasPrefix("F07") }.flatMap { warning in
    [
      "\(warning.severity) \(warning.code) \(warning.location.line):\(warning.location.column) "
        + "\(warning.message) | \(warning.help ?? "")"
    ] + warning.notes.map { "  \($0.location.line):\($0.location.column) \($0.message)" }
  }
  let wanted = expected.flatMap { warning in
    ["warning \(warning.code) \(input.place(warning.mark)) \(warning.message) | \(warning.help)"]
      + warning.notes.map { "  \(input.place($0.mark)) \($0.message)" }
  }
  #expect(found == wanted, sourceLocation: sourceLocation)
}

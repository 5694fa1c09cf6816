import FerryManifest
import Testing

/// Reads a manifest's text with these environment variables, and these values from `--var`.
func read(
  _ text: String, environment: [String: String] = [:], variables: [String: String] = [:]
) -> ManifestReading {
  ManifestReader(environment: environment, variables: variables).read(Array(text.utf8), file: "m.yaml")
}

/// Reads a marked text and compares all its diagnostics: the mark of each, and its message.
func expectMistakes(
  _ marked: String, _ expected: [(Character, String)], environment: [String: String] = [:],
  variables: [String: String] = [:], sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  let input = MarkedText(marked)
  let found = read(input.text, environment: environment, variables: variables).diagnostics
    .map { "\($0.location.line):\($0.location.column) \($0.message)" }
  let wanted = expected.map { "\(input.place($0.0)) \($0.1)" }
  #expect(found == wanted, sourceLocation: sourceLocation)
}

/// A manifest's first lines, so that a test contains only the relevant lines.
let head = """
  version: 1
  name: photos
  sessions: { quick: {}, long: { kind: background } }

  """

import FerryManifest
import Testing

/// An invalid manifest, and the diagnostics that it causes.
///
/// The text has marks such as 1️⃣ at the mistakes. It contains only the lines that the surroundings do not provide.
struct BadManifest: Sendable, CustomTestStringConvertible {
  /// The text around a case, so that the case contains only the relevant lines.
  enum Surroundings: CaseIterable {
    /// The text is the whole manifest.
    case nothing
    /// A manifest with the session `quick`, to which the text adds sections.
    case manifest
    /// The keys of the session `quick`.
    case session
    /// The keys of the upload `photos`, except its transfer and allocation.
    case upload
    /// The keys of the fetch `catalog`, except `session` and `save_to`.
    case fetch
    /// The keys of the request `notify`, except `session`.
    case request
    /// The keys of the HTTP request of `notify`, except `url`.
    case http
  }

  /// An expected diagnostic, by default an error.
  struct Told: Sendable {
    var mark: Character
    var code: DiagnosticCode
    var message: String
    var help: String
    var notes: [(mark: Character, message: String)] = []
    var severity = Diagnostic.Severity.error
  }

  /// A description of the mistake.
  let name: String
  let surroundings: Surroundings
  let text: String
  let told: [Told]
  /// Marked texts of other files, by their paths.
  let files: [String: String]
  let environment: [String: String]
  let variables: [String: String]

  init(
    _ name: String, in surroundings: Surroundings = .manifest, _ text: String, _ told: Told...,
    files: [String: String] = [:], environment: [String: String] = [:], variables: [String: String] = [:]
  ) {
    self.name = name
    self.surroundings = surroundings
    self.text = text
    self.told = told
    self.files = files
    self.environment = environment
    self.variables = variables
  }

  var testDescription: String { name }
}

extension BadManifest.Told {
  static func error(
    _ mark: Character, _ code: DiagnosticCode, _ message: String, help: String,
    notes: [(Character, String)] = []
  ) -> Self {
    Self(
      mark: mark, code: code, message: message, help: help, notes: notes.map { (mark: $0.0, message: $0.1) })
  }

  static func warning(_ mark: Character, _ code: DiagnosticCode, _ message: String, help: String) -> Self {
    Self(mark: mark, code: code, message: message, help: help, severity: .warning)
  }
}

extension BadManifest.Surroundings {
  private static let start = "version: 1\nname: photos\n"
  private static let quick = start + "sessions: { quick: {} }\n"

  /// The lines before the text, and the number of spaces by which the text is indented.
  private var before: (lines: String, indent: Int) {
    switch self {
    case .nothing: ("", 0)
    case .manifest: (Self.quick, 0)
    case .session: (Self.start + "sessions:\n  quick:\n", 4)
    case .upload: (Self.quick + "uploads:\n  photos:\n    session: quick\n", 4)
    case .fetch: (Self.quick + "fetches:\n  catalog:\n    session: quick\n    save_to: catalog.json\n", 4)
    case .request: (Self.quick + "requests:\n  notify:\n    session: quick\n", 4)
    case .http:
      (
        Self.quick
          + "requests:\n  notify:\n    session: quick\n    request:\n      url: https://example.com/\n", 6
      )
    }
  }

  func manifest(around text: String) -> String {
    let margin = String(repeating: " ", count: before.indent)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return before.lines + lines.map { $0.isEmpty ? "" : margin + $0 }.joined(separator: "\n")
  }

  /// A text that is valid in these surroundings.
  var right: String {
    switch self {
    case .nothing: "version: 1\nname: photos\n"
    case .manifest: ""
    case .session: "kind: default"
    case .upload: "files: {}\ntransfer: { request: { url: https://example.com/ } }"
    case .fetch, .request: "request: { url: https://example.com/ }"
    case .http: "method: GET"
    }
  }
}

extension BadManifest {
  /// Reads the manifest, and compares its diagnostics: codes, locations, messages, helps and notes.
  func expectTold() {
    let main = MarkedText(surroundings.manifest(around: text))
    let others = files.map { (path: $0.key, text: MarkedText($0.value, file: $0.key)) }
    let texts = Dictionary(others.map { ($0.path, $0.text.text) }) { first, _ in first }
    let loader = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      guard let text = texts[path] else { throw .init("No such file or directory") }
      return Array(text.utf8)
    }
    let reading = ManifestReader(environment: environment, variables: variables, files: loader)
      .read(Array(main.text.utf8), file: "m.yaml")

    func place(_ mark: Character) -> String {
      let places = ([main] + others.map(\.text)).compactMap { $0.location(mark) }
      return places.first.map { "\($0)" } ?? "no mark \(mark)"
    }
    let found = reading.diagnostics.map { diagnostic in
      Self.lines(
        "\(diagnostic.location)", diagnostic.severity, diagnostic.code, diagnostic.message,
        help: diagnostic.help, notes: diagnostic.notes.map { ("\($0.location)", $0.message) })
    }
    let wanted = told.map { told in
      Self.lines(
        place(told.mark), told.severity, told.code, told.message, help: told.help,
        notes: told.notes.map { (place($0.mark), $0.message) })
    }
    #expect(found == wanted)
  }

  private static func lines(
    _ place: String, _ severity: Diagnostic.Severity, _ code: DiagnosticCode, _ message: String,
    help: String?,
    notes: [(place: String, message: String)]
  ) -> String {
    (["\(place) \(severity) \(message) [\(code.rawValue)]", "help: \(help ?? "none")"]
      + notes.map { "note: \($0.place) \($0.message)" })
      .joined(separator: "\n")
  }
}

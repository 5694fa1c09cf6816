import FerryManifest
import Foundation

/// A case of the public yaml-test-suite (https://github.com/yaml/yaml-test-suite), read from its `src/*.yaml`.
struct YAMLTestSuiteCase: Sendable, CustomStringConvertible {
  /// The file's name. For every case except the file's first, a slash and the case's position follow: `VJP3`,
  /// `VJP3/01`.
  var id: String
  var yaml: [UInt8]
  /// The documents of the text as JSON; `nil` if JSON cannot represent them.
  var json: String?
  /// Whether the text is invalid YAML.
  var fails: Bool

  var description: String { id }

  private struct NotReadable: Error {
    var file: String
    var messages: [String]
  }

  /// The cases of a file; empty if the suite's authors marked the file as one to skip.
  ///
  /// A case inherits missing fields from the previous case, and a null removes a field. `fail` is not inherited.
  static func cases(in file: URL) throws -> [YAMLTestSuiteCase] {
    let name = file.deletingPathExtension().lastPathComponent
    let source = SourceText(Array(try Data(contentsOf: file)), file: file.lastPathComponent)
    let document = YAMLDocument(source)
    guard document.diagnostics.isEmpty, let elements = document.root?.elements, let first = elements.first
    else {
      throw NotReadable(file: name, messages: document.diagnostics.map(\.message))
    }
    // "The following cases are valid YAML according to the 1.2 productions but not at all usefully valid."
    guard first["skip"] == nil else { return [] }
    var yaml = ""
    var json: String?
    return elements.enumerated().map { index, element in
      yaml = element["yaml"]?.scalar?.text ?? yaml
      if let own = element["json"] { json = own.isNull ? nil : own.scalar?.text }
      return YAMLTestSuiteCase(
        id: index == 0 ? name : "\(name)/\(index < 10 ? "0" : "")\(index)", yaml: Array(written(yaml).utf8),
        json: json.map(written), fails: element["fail"]?.scalar?.value == .bool(true))
    }
  }

  /// The text after replacing the suite's symbols for invisible characters, as its ReadMe specifies.
  private static func written(_ text: String) -> String {
    var text =
      text
      .replacingOccurrences(of: "␣", with: " ")
      .replacingOccurrences(of: "—*»", with: "\t", options: .regularExpression)
      .replacingOccurrences(of: "←", with: "\r")
      .replacingOccurrences(of: "⇔", with: "\u{FEFF}")
      .replacingOccurrences(of: "↵", with: "")
    if text.hasSuffix("∎\n") { text.removeLast(2) }
    return text
  }
}

/// Diagnostics in the Static Analysis Results Interchange Format (SARIF), version 2.1.0 (OASIS). The property
/// names are those that the format defines: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
///
/// The log is encoded unchanged; its keys are not converted to snake_case.
package struct SARIFLog: Encodable, Equatable, Sendable {
  package var schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
  package var version = "2.1.0"
  package var runs: [Run]

  private enum CodingKeys: String, CodingKey {
    case schema = "$schema"
    case version
    case runs
  }

  package struct Run: Encodable, Equatable, Sendable {
    package var tool: Tool
    /// The unit of SourceLocation's columns.
    package var columnKind = "unicodeCodePoints"
    package var results: [Result]
  }

  package struct Tool: Encodable, Equatable, Sendable {
    package var driver: Driver
  }

  package struct Driver: Encodable, Equatable, Sendable {
    package var name: String
    package var version: String
    package var rules: [Rule]
  }

  /// A diagnostic's code.
  package struct Rule: Encodable, Equatable, Sendable {
    package var id: String
    package var name: String
    package var shortDescription: Message
    package var fullDescription: Message
    package var help: Message
    package var defaultConfiguration: Configuration
  }

  package struct Configuration: Encodable, Equatable, Sendable {
    package var level: Level
  }

  package enum Level: String, Encodable, Sendable {
    case error
    case warning
  }

  package struct Message: Encodable, Equatable, Sendable {
    package var text: String
    package var markdown: String?
  }

  package struct Result: Encodable, Equatable, Sendable {
    package var ruleId: String
    package var ruleIndex: Int
    package var level: Level
    package var message: Message
    package var locations: [Location]
    package var relatedLocations: [Location]?
  }

  package struct Location: Encodable, Equatable, Sendable {
    package var physicalLocation: PhysicalLocation
    package var message: Message?
  }

  package struct PhysicalLocation: Encodable, Equatable, Sendable {
    package var artifactLocation: ArtifactLocation
    package var region: Region
  }

  package struct ArtifactLocation: Encodable, Equatable, Sendable {
    package var uri: String
  }

  /// Lines and columns start at 1.
  package struct Region: Encodable, Equatable, Sendable {
    package var startLine: Int
    package var startColumn: Int
    /// The end is exclusive.
    package var endColumn: Int?
  }
}

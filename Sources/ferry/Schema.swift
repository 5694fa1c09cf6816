import ArgumentParser
import FerryManifest
import FerryReport

/// `ferry schema`: a JSON schema of the manifest, for editors, or of the report, for programs that read it.
struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON schema of manifests or reports.",
    discussion: """
      An editor with a YAML language server completes and checks a manifest that has this line at its top:
      # yaml-language-server: $schema=PATH
      """)

  @Flag(help: "Print the JSON Schema (2020-12) of report.json.")
  var report = false

  func run() throws { try Output.produce(report ? ReportSchema.json() : ManifestSchema.json()) }
}

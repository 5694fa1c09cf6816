import ArgumentParser
import FerryManifest

/// `ferry schema`: a JSON schema of the manifest, for editors.
struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the JSON schema of the manifest.",
    discussion: """
      An editor with a YAML language server completes and checks a manifest by it, with this line at its top:
      # yaml-language-server: $schema=PATH
      """)

  func run() throws { try Output.produce(ManifestSchema.json()) }
}

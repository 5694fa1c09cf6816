import ArgumentParser
import FerryManifest

/// `ferry schema`: a JSON schema of the manifest, for editors.
struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the JSON schema of manifests.",
    discussion: """
      An editor with a YAML language server completes and checks a manifest that has this line at its top:
      # yaml-language-server: $schema=PATH
      """)

  func run() throws { try Output.produce(ManifestSchema.json()) }
}

/// A manifest with every default written out, and the origin of each value.
///
/// The text is an equivalent manifest. References are kept as references, so the text never contains values
/// from the environment, from `--var` or from a secret.
package struct EffectiveManifest: Sendable {
  let root: EffectiveValue

  /// - Parameters:
  ///   - root: the document as read without errors: `ManifestReading.root`.
  ///   - profile: the profile that determines the defaults of the policies.
  package init(_ root: YAMLNode, in profile: Profile) {
    var form = ManifestDocument.shape(file: "").form
    var root = root
    form.keys.removeAll { Self.used.contains($0.name) }
    if let members = root.members {
      root.content = .mapping(members.filter { !Self.used.contains($0.key.value) })
    }
    self.root = EffectiveWalk(profile: profile).value(root, as: .object(form))
  }

  /// The contents of these keys have already been inserted elsewhere. Writing them again would duplicate
  /// them.
  private static let used: Set<String> = ["include", "defaults"]

  /// The manifest as YAML. A comment at the end of each line shows the origin of its value.
  package func yaml() -> String { EffectiveText.text(root) }
}

/// In JSON, each scalar is `{ "value": …, "from": … }`, and each default with a description instead of a
/// value is `{ "words": …, "from": … }`.
extension EffectiveManifest: Encodable {
  package func encode(to encoder: any Encoder) throws { try root.encode(to: encoder) }
}

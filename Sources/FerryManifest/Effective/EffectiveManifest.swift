/// A manifest with every default written out, and where each value comes from.
///
/// Its text is a manifest that means the same. References stay references: no value of the environment, of `--var`
/// or of a secret is ever in it.
package struct EffectiveManifest: Sendable {
  let root: EffectiveValue

  /// - Parameters:
  ///   - root: the document as it was read without an error: `ManifestReading.root`.
  ///   - profile: what the defaults of the policies follow from.
  package init(_ root: YAMLNode, in profile: Profile) {
    var form = ManifestDocument.shape(file: "").form
    var root = root
    form.keys.removeAll { Self.used.contains($0.name) }
    if let members = root.members {
      root.content = .mapping(members.filter { !Self.used.contains($0.key.value) })
    }
    self.root = EffectiveWalk(profile: profile).value(root, as: .object(form))
  }

  /// What these say stands in its places by now; said again, it would be there twice.
  private static let used: Set<String> = ["include", "defaults"]

  /// The manifest as YAML. A comment at the end of each line says where its value comes from.
  package func yaml() -> String { EffectiveText.text(root) }
}

/// As JSON each scalar is `{ "value": …, "from": … }`, and each default that is told in words
/// `{ "words": …, "from": … }`.
extension EffectiveManifest: Encodable {
  package func encode(to encoder: any Encoder) throws { try root.encode(to: encoder) }
}

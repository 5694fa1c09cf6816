/// Detects text that libyaml silently reads differently from YAML 1.2.
extension YAMLComposer {
  /// `&a:b c`: libyaml ends the anchor's name at the ':' and reads the value as `:b c`.
  func misreadAnchor(
    of scalar: YAMLScalar, _ properties: YAMLEvent.Properties, at location: SourceLocation
  ) -> Diagnostic? {
    guard let anchor = properties.anchor, scalar.style == .plain, scalar.text.hasPrefix(":") else {
      return nil
    }
    var end = location
    // libyaml accepts only ASCII in anchor names.
    end.column += 1 + anchor.utf8.count
    guard source.text(line: end.line, from: end.column, limit: 1) == ":" else { return nil }
    return Diagnostic(
      .syntax, at: end, "a ':' is not allowed in the name of an anchor",
      help: "use letters, digits, '-' and '_'; put a space before a value that begins with ':'")
  }

  /// `[?x]`: libyaml reads the '?' as a key indicator, as if a space followed it.
  func misreadKey(_ key: YAMLNode, at location: SourceLocation) -> Diagnostic? {
    guard location.column > 1, let scalar = key.scalar, scalar.style == .plain, !scalar.text.isEmpty else {
      return nil
    }
    var sign = location
    sign.column -= 1
    guard source.text(line: sign.line, from: sign.column, limit: 1) == "?" else { return nil }
    return Diagnostic(
      .syntax, at: sign, "a '?' before a word marks a key here",
      help: "put the text in quotes: \"?\(scalar.text.clipped)\"")
  }
}

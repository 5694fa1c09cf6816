extension YAMLComposer {
  static let core = "tag:yaml.org,2002:"

  mutating func forcedType(
    of scalar: YAMLScalar, tag: String?, at location: SourceLocation
  ) -> YAMLScalar.ForcedType? {
    guard let tag else { return nil }
    let found = YAMLScalar.resolve(scalar.text)
    let fits: Bool
    switch tag {
    case "!", Self.core + "str": return .string
    case Self.core + "null": fits = found == .null
    case Self.core + "bool":
      if case .bool = found { fits = true } else { fits = false }
    case Self.core + "int":
      switch found {
      case .integer, .hugeInteger: fits = true
      case .null, .bool, .float, .string: fits = false
      }
    case Self.core + "float":
      switch found {
      case .integer, .hugeInteger, .float: fits = true
      case .null, .bool, .string: fits = false
      }
    default:
      refuse(tag, at: location)
      return nil
    }
    if !fits {
      diagnostics.append(
        Diagnostic(
          .tagMismatch, at: location,
          "the value does not match the tag '!!\(tag.dropFirst(Self.core.count))'",
          help: "remove the tag"))
    }
    return .resolved
  }

  mutating func check(tag: String?, is expected: String, at location: SourceLocation) {
    guard let tag, tag != "!", tag != Self.core + expected else { return }
    refuse(tag, at: location)
  }

  private mutating func refuse(_ tag: String, at location: SourceLocation) {
    diagnostics.append(
      Diagnostic(
        .unknownTag, at: location, "the tag \(tag.quoted) is not supported",
        help: "remove the tag; ferry reads plain YAML"))
  }
}

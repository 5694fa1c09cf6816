extension DiagnosticCode {
  /// The first two digits of a code.
  package enum Family: String, CaseIterable, Sendable {
    case text = "01"
    case keys = "02"
    case values = "03"
    case names = "04"
    case circles = "05"
    case sharing = "06"
    case warnings = "07"
    case surroundings = "08"

    /// The heading of the family's codes.
    package var title: String {
      switch self {
      case .text: "YAML syntax"
      case .keys: "Keys"
      case .values: "Values"
      case .names: "Names and references"
      case .circles: "Cycles and unbounded growth"
      case .sharing: "Sharing between files and nodes"
      case .warnings: "Valid, but probably a mistake"
      case .surroundings: "Impossible with these files or on this machine"
      }
    }

    package var codes: [DiagnosticCode] { DiagnosticCode.allCases.filter { $0.family == self } }
  }

  /// Every code begins with `F` and its family's digits. A test checks this.
  package var family: Family {
    guard let family = Family(rawValue: String(rawValue.dropFirst().prefix(2))) else {
      preconditionFailure("the code \(rawValue) does not begin with the digits of a family")
    }
    return family
  }

  /// The severity of this code's diagnostics. A manifest with an error is not valid.
  package var severity: Diagnostic.Severity {
    switch family {
    case .text, .keys, .values, .names, .circles, .sharing, .surroundings: .error
    case .warnings: .warning
    }
  }

  /// The code that is most similar to a misspelled code.
  package static func nearest(to text: String) -> DiagnosticCode? {
    NearestName.nearest(to: text, among: allCases.map(\.rawValue)).flatMap { DiagnosticCode(rawValue: $0) }
  }

  /// The code with this name, ignoring case; nil for an unknown name.
  package init?(written text: String) { self.init(rawValue: text.uppercased()) }

  /// The case's name in Pascal case, as tools show rules: `UnknownKey`.
  package var pascalName: String {
    let name = String(describing: self)
    return name.prefix(1).uppercased() + name.dropFirst()
  }
}

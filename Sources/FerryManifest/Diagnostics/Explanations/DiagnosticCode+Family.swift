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
    case notBuilt = "09"

    /// What the codes of the family are about, as a heading.
    package var title: String {
      switch self {
      case .text: "The text, as YAML"
      case .keys: "Keys"
      case .values: "Values"
      case .names: "Names and references"
      case .circles: "What goes in a circle, or grows without end"
      case .sharing: "Sharing between files and nodes"
      case .warnings: "Legal, and surely not meant"
      case .surroundings: "What the files and the machine make impossible"
      case .notBuilt: "Not built yet"
      }
    }

    package var codes: [DiagnosticCode] { DiagnosticCode.allCases.filter { $0.family == self } }
  }

  /// Every code begins with `F` and its family's digits, which a test holds it to.
  package var family: Family {
    guard let family = Family(rawValue: String(rawValue.dropFirst().prefix(2))) else {
      preconditionFailure("the code \(rawValue) begins with no family's digits")
    }
    return family
  }

  /// What diagnostics of this code are: a manifest with an error is not valid.
  package var severity: Diagnostic.Severity {
    switch family {
    case .text, .keys, .values, .names, .circles, .sharing, .surroundings: .error
    case .warnings, .notBuilt: .warning
    }
  }

  /// The code that a text was probably meant to be.
  package static func nearest(to text: String) -> DiagnosticCode? {
    NearestName.nearest(to: text, among: allCases.map(\.rawValue)).flatMap { DiagnosticCode(rawValue: $0) }
  }

  /// The code that a person has written, in any case; nil where there is none.
  package init?(written text: String) { self.init(rawValue: text.uppercased()) }

  /// The name in the sources in words of its own, as tools show rules: `UnknownKey`.
  package var pascalName: String {
    let name = String(describing: self)
    return name.prefix(1).uppercased() + name.dropFirst()
  }
}

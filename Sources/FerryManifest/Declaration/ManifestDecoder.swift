/// The state of reading a manifest: the current place, the diagnostics, and the names found so far.
struct ManifestDecoder {
  /// The maximum number of warnings among the diagnostics. Without this limit, early warnings could displace
  /// the errors that invalidate the manifest.
  private static let mostWarnings = 500
  /// The maximum number of values read. Values repeated by aliases, `defaults` and `for_each` count each
  /// time.
  static let mostValues = 500_000
  /// The maximum number of bytes of text read. Repeated text counts each time, as in `mostValues`.
  static let mostText = 128 << 20

  /// The manifest's sources, by their `file`.
  private let sources: [String: SourceText]
  private let main: SourceText
  let profile: Profile
  private(set) var diagnostics: [Diagnostic] = []
  private var warnings = 0
  /// The number of all reports, including repeated and dropped ones.
  private var reports = 0
  /// The reported diagnostics and their indexes in `diagnostics`. A mistake that several aliases repeat is
  /// reported once.
  private var reported: [Reported: Int] = [:]
  private var reportedPlaces: Set<ReportedPlace> = []
  /// The locations of the aliases that inserted the current value, outermost first.
  private var uses: [SourceLocation] = []
  /// The key whose value is being read.
  var owner: Located<String>
  /// An example of the declared key whose value is being read, for help.
  var example: (key: String, value: String)?
  /// Whether only some keys of an object are read, because another object supplies the others. In this mode,
  /// missing keys are not reported, and names are not looked up.
  private(set) var isPartial = false
  private var valueCount = 0
  private var textCount = 0
  private var isExhausted = false
  /// The `for_each` instance that is being read.
  var each: EachInstance?
  /// The name of the next node that is read, if it is an instance of a node with `for_each`.
  var instanceName: String?
  /// The location of `vars`.
  var varsPlace: SourceLocation?
  /// Whether a part of the manifest could not be read. Required keys may be in that part.
  var mayBeIncomplete = false
  /// Whether the current node has a `for_each` that is misspelled or not allowed there. The values of
  /// `${each.…}` in the node are then unknown.
  var hasMisspeltForEach = false
  /// Whether the last text read contains a value from the environment or the command line. Such a value may
  /// be secret, so it is never shown in a message.
  var isFromOutside = false
  /// The current place, which determines the references that are allowed here.
  var place = Place.constant
  var variables: Variables
  /// Nodes, tokens, sessions and secrets by name.
  var declared = DeclaredNames()
  /// The places where the manifest uses one of these names.
  var nameUses: [NameUse] = []
  /// The places where the manifest refers to a value of the run.
  var referenceUses: [ReferenceUse] = []

  /// - Parameter sources: the manifest's text first, then its includes.
  init(_ main: SourceText, includes: [SourceText] = [], profile: Profile, variables: Variables) {
    self.main = main
    sources = Dictionary(([main] + includes).map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
    self.profile = profile
    self.variables = variables
    owner = Located("", at: main.start)
  }

  private struct Reported: Hashable {
    var code: DiagnosticCode
    var location: SourceLocation
    var message: String
  }

  private struct ReportedPlace: Hashable {
    var code: DiagnosticCode
    var location: SourceLocation
  }

  /// Whether a mistake of this kind has been reported at a location, regardless of its message.
  func isReported(_ code: DiagnosticCode, at location: SourceLocation) -> Bool {
    reportedPlaces.contains(ReportedPlace(code: code, location: location))
  }

  /// The text that contains a location.
  func source(of location: SourceLocation) -> SourceText { sources[location.file] ?? main }

  /// The location of the first character of the manifest.
  var start: SourceLocation { main.start }

  /// Reads a value within the limits for all values. A mistake in a value that an alias inserted is reported
  /// with the location of the alias in addition to the location of the definition.
  mutating func within<Value>(_ node: YAMLNode, _ read: (inout Self) -> Value?) -> Value? {
    valueCount += 1
    textCount += node.scalar?.text.utf8.count ?? 0
    guard valueCount <= Self.mostValues, textCount <= Self.mostText else {
      if !isExhausted {
        isExhausted = true
        report(
          .tooManyValues, at: node.location,
          "the manifest has more than \(Self.mostValues) values or 128 MiB of text, counting each use of shared values",
          help: "each use of an alias, of 'defaults' and of 'for_each' counts; reduce their number")
      }
      return nil
    }
    // The target of an alias without an anchor is unknown. The alias has already been reported.
    guard !node.isIncomplete || node.members != nil else { return nil }
    guard let use = node.use else { return read(&self) }
    uses.append(use)
    defer { uses.removeLast() }
    return read(&self)
  }

  /// Reports a diagnostic. A diagnostic that is already reported only receives a note about the additional use.
  ///
  /// - Parameter use: the location of the alias that inserted the value, if no value is currently being
  ///   read.
  mutating func report(
    _ code: DiagnosticCode, _ severity: Diagnostic.Severity = .error, at location: SourceLocation,
    _ message: String, help: String? = nil, notes: [Diagnostic.Note] = [], use: SourceLocation? = nil
  ) {
    reports += 1
    let use = (use ?? uses.last).map { Diagnostic.Note("used here", at: $0) }
    let key = Reported(code: code, location: location, message: message)
    if let known = reported[key] {
      // Three uses are enough to identify the definition.
      guard let use, diagnostics[known].notes.count < 3, !diagnostics[known].notes.contains(use) else {
        return
      }
      diagnostics[known].notes.append(use)
      return
    }
    guard diagnostics.count < Diagnostic.mostReported else { return }
    if severity == .warning {
      guard warnings < Self.mostWarnings else { return }
      warnings += 1
    }
    reported[key] = diagnostics.count
    reportedPlaces.insert(ReportedPlace(code: code, location: location))
    diagnostics.append(
      Diagnostic(code, severity, at: location, message, help: help, notes: notes + (use.map { [$0] } ?? [])))
  }

  /// Reads some keys of an object.
  mutating func partially<Value>(_ read: (inout Self) -> Value) -> Value {
    let outer = isPartial
    isPartial = true
    defer { isPartial = outer }
    return read(&self)
  }

  /// Reports a problem that a rule found in the last text read.
  mutating func reportOfValue(_ problem: Problem, at location: SourceLocation) {
    guard problem.showsValue, isFromOutside else { return report(problem, at: location) }
    report(
      problem.code, at: location, "\(owner.value.quoted) has an invalid value",
      help:
        "the value comes from outside the manifest and is not shown; 'ferry explain \(problem.code.rawValue)' describes valid values"
    )
  }

  mutating func report(_ problem: Problem, at location: SourceLocation) {
    report(problem.code, at: location, problem.message, help: problem.help)
  }

  /// Reports a value of a type that its key does not accept.
  mutating func mismatch(_ node: YAMLNode, wanted: String, help: String? = nil) {
    // The cause has already been reported.
    guard !node.isIncomplete else { return }
    let subject = owner.value.isEmpty ? "the manifest" : owner.value.quoted
    let reference = node.scalar.flatMap { $0.value == .string && $0.text.hasPrefix("${") ? $0.text : nil }
    let found = reference.map { "but \($0.quoted) has a different value" } ?? "found \(node.kindName)"
    report(
      .wrongType, at: node.location, "\(subject) must be \(wanted), \(found)",
      help: help ?? exampleHelp ?? "write \(wanted)")
  }

  /// An example of a valid value of the current key.
  var exampleHelp: String? {
    guard let example, example.key == owner.value else { return nil }
    return "for example '\(example.key): \(example.value)'"
  }

  /// A "did you mean" suggestion. Suggestions are computed only for the first mistakes in a manifest, because
  /// each suggestion compares all names.
  func suggestion(for name: String, among known: @autoclosure () -> some Collection<String>) -> String? {
    isHopeful ? NearestName.suggestion(for: name, among: known().prefix(1_000)) : nil
  }

  /// The name that was probably meant; like `suggestion`, computed only for the first mistakes.
  func nearest(to name: String, among known: [String]) -> String? {
    isHopeful ? NearestName.nearest(to: name, among: known) : nil
  }

  private var isHopeful: Bool { reports < 500 }
}

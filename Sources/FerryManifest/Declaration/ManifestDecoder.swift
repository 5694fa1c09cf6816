/// What a reading carries along: the place it has come to, what was found wrong, and what names were met.
struct ManifestDecoder {
  /// More mistakes than this are not told: nobody reads them, and hostile text could have millions.
  static let mostDiagnostics = 1_000
  /// Of them, the warnings: one that comes early takes no place from an error, which refuses the manifest.
  private static let mostWarnings = 500
  /// Values that are read in all, those that aliases, `defaults` and `for_each` repeat counted each time.
  static let mostValues = 500_000
  /// Bytes of text that are read in all, counted in the same way.
  static let mostText = 128 << 20

  /// The texts that the manifest is made of, by their `file`.
  private let sources: [String: SourceText]
  private let main: SourceText
  let profile: Profile
  private(set) var diagnostics: [Diagnostic] = []
  private var warnings = 0
  /// All that was reported, what is not told again or not at all included.
  private var reports = 0
  /// What was told, and where in `diagnostics`: what several aliases stand for is wrong once.
  private var told: [Told: Int] = [:]
  private var toldPlaces: Set<ToldPlace> = []
  /// Where the aliases stand that brought what is being read, from the outside in.
  private var uses: [SourceLocation] = []
  /// The key whose value is being read.
  var owner: Located<String>
  /// An example of the declared key whose value is being read, for help.
  var example: (key: String, value: String)?
  /// Only some keys of an object are read, for whoever gives the others: nothing is missing, and names are not
  /// looked up.
  private(set) var isPartial = false
  private var valueCount = 0
  private var textCount = 0
  private var isExhausted = false
  /// The instance of a `for_each` that is being read.
  var each: EachInstance?
  /// The name of the node that begins here, where it is one of several.
  var instanceName: String?
  /// Where `vars` stands.
  var varsPlace: SourceLocation?
  /// A part of the manifest could not be read: what is required may stand there.
  var mayBeIncomplete = false
  /// The node that is read has a misspelt `for_each`, or one where none can be: what `${each.…}` stands for in it
  /// is not known.
  var hasMisspeltForEach = false
  /// Whether the text that was read last has something of the environment or the command line in it. It may be
  /// secret, so that no message shows it.
  var isFromOutside = false
  /// Which references may be used here.
  var place = Place.constant
  var variables: Variables
  /// Nodes, tokens, sessions and secrets by name.
  var declared = DeclaredNames()
  /// Where the manifest names one of them.
  var nameUses: [NameUse] = []
  /// Where it refers to a value of the run.
  var referenceUses: [ReferenceUse] = []

  /// - Parameter sources: the manifest's text first, then what it includes.
  init(_ main: SourceText, includes: [SourceText] = [], profile: Profile, variables: Variables) {
    self.main = main
    sources = Dictionary(([main] + includes).map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
    self.profile = profile
    self.variables = variables
    owner = Located("", at: main.start)
  }

  private struct Told: Hashable {
    var code: DiagnosticCode
    var location: SourceLocation
    var message: String
  }

  private struct ToldPlace: Hashable {
    var code: DiagnosticCode
    var location: SourceLocation
  }

  /// Whether a mistake of this kind is told at a place, in whatever words.
  func isTold(_ code: DiagnosticCode, at location: SourceLocation) -> Bool {
    toldPlaces.contains(ToldPlace(code: code, location: location))
  }

  /// The text that a place is in.
  func source(of location: SourceLocation) -> SourceText { sources[location.file] ?? main }

  /// The manifest's first letter.
  var start: SourceLocation { main.start }

  /// Reads a value, within the bounds of all of them. Mistakes in what an alias brought name the use beside the
  /// definition.
  mutating func within<Value>(_ node: YAMLNode, _ read: (inout Self) -> Value?) -> Value? {
    valueCount += 1
    textCount += node.scalar?.text.utf8.count ?? 0
    guard valueCount <= Self.mostValues, textCount <= Self.mostText else {
      if !isExhausted {
        isExhausted = true
        report(
          .tooManyValues, at: node.location,
          "the manifest has more than \(Self.mostValues) values or 128 MiB of text, counting each use of what is shared",
          help: "aliases, 'defaults' and 'for_each' count as often as they are used; use fewer")
      }
      return nil
    }
    // What an alias of no anchor stands for is not known; the alias has been told.
    guard !node.isIncomplete || node.members != nil else { return nil }
    guard let use = node.use else { return read(&self) }
    uses.append(use)
    defer { uses.removeLast() }
    return read(&self)
  }

  /// - Parameter use: where the alias stands that brought it, where nothing is being read any more.
  mutating func report(
    _ code: DiagnosticCode, _ severity: Diagnostic.Severity = .error, at location: SourceLocation,
    _ message: String, help: String? = nil, notes: [Diagnostic.Note] = [], use: SourceLocation? = nil
  ) {
    reports += 1
    let use = (use ?? uses.last).map { Diagnostic.Note("used here", at: $0) }
    let key = Told(code: code, location: location, message: message)
    if let known = told[key] {
      // Three uses are enough to see which definition is meant.
      guard let use, diagnostics[known].notes.count < 3, !diagnostics[known].notes.contains(use) else {
        return
      }
      diagnostics[known].notes.append(use)
      return
    }
    guard diagnostics.count < Self.mostDiagnostics else { return }
    if severity == .warning {
      guard warnings < Self.mostWarnings else { return }
      warnings += 1
    }
    told[key] = diagnostics.count
    toldPlaces.insert(ToldPlace(code: code, location: location))
    diagnostics.append(
      Diagnostic(code, severity, at: location, message, help: help, notes: notes + (use.map { [$0] } ?? [])))
  }

  /// Told of what belongs to the language and does not work yet: a run refuses it, and reading goes on.
  mutating func reportNotBuilt(_ what: String, at location: SourceLocation) {
    report(
      .notBuilt, .warning, at: location, "\(what) is not built yet: 'ferry run' refuses this manifest",
      help: "remove it to run; this ferry reads and checks it, and does not ignore what it cannot do")
  }

  /// Reads some keys of an object.
  mutating func partially<Value>(_ read: (inout Self) -> Value) -> Value {
    let outer = isPartial
    isPartial = true
    defer { isPartial = outer }
    return read(&self)
  }

  /// Told of what a rule found wrong with the text that was read last.
  mutating func reportOfValue(_ problem: Problem, at location: SourceLocation) {
    guard problem.showsValue, isFromOutside else { return report(problem, at: location) }
    report(
      problem.code, at: location, "\(owner.value.quoted) has a value that it cannot have",
      help:
        "it comes from outside and is not shown; 'ferry explain \(problem.code.rawValue)' tells what it may be"
    )
  }

  mutating func report(_ problem: Problem, at location: SourceLocation) {
    report(problem.code, at: location, problem.message, help: problem.help)
  }

  /// Told of a value that is not what its key wants.
  mutating func mismatch(_ node: YAMLNode, wanted: String, help: String? = nil) {
    // What made it so has been told.
    guard !node.isIncomplete else { return }
    let subject = owner.value.isEmpty ? "the manifest" : owner.value.quoted
    let reference = node.scalar.flatMap { $0.value == .string && $0.text.hasPrefix("${") ? $0.text : nil }
    let found = reference.map { "which is not what \($0.quoted) stands for" } ?? "found \(node.kindName)"
    report(
      .wrongType, at: node.location, "\(subject) must be \(wanted), \(found)",
      help: help ?? exampleHelp ?? "write \(wanted)")
  }

  /// What the key that is being read looks like where it is right.
  var exampleHelp: String? {
    guard let example, example.key == owner.value else { return nil }
    return "for example '\(example.key): \(example.value)'"
  }

  /// "did you mean"; only for the first mistakes of a hopeless text, since it looks at all names each time.
  func suggestion(for name: String, among known: @autoclosure () -> some Collection<String>) -> String? {
    isHopeful ? NearestName.suggestion(for: name, among: known().prefix(1_000)) : nil
  }

  /// The name that was meant, under the same bound.
  func nearest(to name: String, among known: [String]) -> String? {
    isHopeful ? NearestName.nearest(to: name, among: known) : nil
  }

  private var isHopeful: Bool { reports < 500 }
}

/// What a rule finds wrong with a value, before anybody knows where it stands.
struct Problem: Sendable {
  var code: DiagnosticCode
  var message: String
  var help: String
  /// Whether the words have something of the value in them.
  var showsValue: Bool

  init(_ code: DiagnosticCode, _ message: String, help: String, showsValue: Bool = false) {
    self.code = code
    self.message = message
    self.help = help
    self.showsValue = showsValue
  }
}

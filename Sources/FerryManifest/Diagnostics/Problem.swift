/// What a rule finds wrong with a value, before anybody knows where it stands.
struct Problem: Sendable {
  var code: DiagnosticCode
  var message: String
  var help: String

  init(_ code: DiagnosticCode, _ message: String, help: String) {
    self.code = code
    self.message = message
    self.help = help
  }
}

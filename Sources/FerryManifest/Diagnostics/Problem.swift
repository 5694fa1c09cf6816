/// A problem that a rule found in a value, without its location.
struct Problem: Sendable {
  var code: DiagnosticCode
  var message: String
  var help: String
  /// Whether the message contains a part of the value.
  var showsValue: Bool

  init(_ code: DiagnosticCode, _ message: String, help: String, showsValue: Bool = false) {
    self.code = code
    self.message = message
    self.help = help
    self.showsValue = showsValue
  }
}

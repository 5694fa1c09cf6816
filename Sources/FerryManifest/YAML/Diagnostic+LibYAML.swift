import CYaml

extension Diagnostic {
  /// libyaml's message about a string that cannot be parsed, with a remedy added.
  init(libyaml parser: yaml_parser_t, in source: SourceText) {
    func location(_ mark: yaml_mark_t) -> SourceLocation {
      SourceLocation(file: source.file, line: mark.line + 1, column: mark.column + 1)
    }
    let problem = parser.problem.map { String(cString: $0) } ?? "the text cannot be read"
    let context = parser.context.map { String(cString: $0) }
    var place = location(parser.problem_mark)
    let here = source.text(line: place.line, from: place.column, limit: 1)
    let before = source.text(line: place.line, from: max(1, place.column - 1), limit: 1)

    var code = DiagnosticCode.syntax
    var message = problem
    var help: String?
    if here == "\t" {
      code = .tab
      message = "a tab cannot be used here"
      help = "indent with spaces; YAML does not allow tabs in indentation"
    } else if here == "{", before == "$" {
      place.column -= 1
      code = .unquotedReference
      message = "a value with '${' needs quotes inside { } or [ ]"
      help = "put the value in double quotes: \"${…}\""
    } else {
      (message, help) = LibYAMLProblem.explain(problem, context: context)
      // For a directive, libyaml marks the position after it.
      if context == "while scanning a directive" { place = location(parser.context_mark) }
    }
    var notes: [Note] = []
    if let context, parser.context_mark.line != parser.problem_mark.line {
      notes.append(Note(LibYAMLProblem.place(context), at: location(parser.context_mark)))
    }
    self.init(code, at: place, message, help: help, notes: notes)
  }
}

import CYaml

extension Diagnostic {
  /// What libyaml says about a text it cannot read, with the remedy it does not tell.
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
      help = "indent with spaces; YAML allows no tabs in indentation"
    } else if here == "{", before == "$" {
      place.column -= 1
      code = .unquotedReference
      message = "'${' inside { } or [ ] without quotes"
      help = "put the value in double quotes: \"${…}\""
    } else {
      (message, help) = Self.explain(problem, context: context)
    }
    var notes: [Note] = []
    if let context, parser.context_mark.line != parser.problem_mark.line {
      notes.append(Note(context, at: location(parser.context_mark)))
    }
    self.init(code, at: place, message, help: help, notes: notes)
  }

  private static func explain(_ problem: String, context: String?) -> (message: String, help: String?) {
    switch problem {
    case "mapping values are not allowed in this context":
      (
        "a ':' that begins a value is not allowed here",
        "quote the value if it contains ': ', or check the indentation"
      )
    case "did not find expected key":
      ("a key was expected here", "check the indentation: keys of one mapping start in one column")
    case "could not find expected ':'":
      ("a ':' was expected before this", "write 'key: value'; quote a text that goes over several lines")
    case "did not find expected '-' indicator":
      ("a '-' was expected here", "check the indentation: items of one list start in one column")
    case "did not find expected ',' or ']'":
      ("a ',' or ']' was expected here", "close the list with ']', or separate its items with ','")
    case "did not find expected ',' or '}'":
      ("a ',' or '}' was expected here", "close the mapping with '}', or separate its members with ','")
    case "found unexpected end of stream" where context?.contains("quoted scalar") == true:
      ("the text ends inside quotes", "close the quotes")
    case "found character that cannot start any token":
      ("this character cannot start a value", "put the value in quotes")
    case "found unknown escape character":
      ("this escape is not known in double quotes", "use single quotes, or write the backslash twice")
    case "block sequence entries are not allowed in this context":
      ("a '-' is not allowed here", "begin the list on a line of its own")
    case "found undefined tag handle":
      ("this tag is not known", "remove the tag; ferry reads plain YAML")
    case "found duplicate anchor":
      (problem, "give the anchor another name")
    default:
      (problem, context.map { "it happened \($0)" })
    }
  }
}

/// Translates libyaml's messages about invalid text into ferry's terms, and adds a remedy.
enum LibYAMLProblem {
  static func explain(_ problem: String, context: String?) -> (message: String, help: String?) {
    structure(problem) ?? scalar(problem, context: context) ?? directive(problem)
      ?? (problem, context.map { "it occurred \($0)" })
  }

  /// The element that begins at the location of libyaml's context.
  static func place(_ context: String) -> String {
    switch context {
    case "while parsing a flow sequence", "while parsing a block collection": "the list begins here"
    case "while parsing a flow mapping", "while parsing a block mapping": "the mapping begins here"
    case "while scanning a quoted scalar": "the quotes begin here"
    case "while scanning a simple key": "the key begins here"
    case "while scanning a block scalar": "the text begins here"
    default: context
    }
  }

  private static func structure(_ problem: String) -> (message: String, help: String?)? {
    switch problem {
    case "mapping values are not allowed in this context":
      (
        "a ':' that begins a value is not allowed here",
        "quote the value if it contains ': ', or check the indentation"
      )
    case "mapping keys are not allowed in this context":
      ("a '?' that begins a key is not allowed here", "put the value in quotes, or check the indentation")
    case "block sequence entries are not allowed in this context":
      ("a '-' is not allowed here", "start the list on its own line")
    case "did not find expected key":
      ("a key was expected here", "check the indentation: keys of one mapping start in the same column")
    case "could not find expected ':'":
      (
        "a ':' was expected before this position",
        "write 'key: value'; quote a string that spans several lines"
      )
    case "did not find expected '-' indicator":
      ("a '-' was expected here", "check the indentation: items of one list start in the same column")
    case "did not find expected ',' or ']'":
      ("a ',' or ']' was expected here", "close the list with ']', or separate its items with ','")
    case "did not find expected ',' or '}'":
      ("a ',' or '}' was expected here", "close the mapping with '}', or separate its members with ','")
    case "did not find expected node content":
      (
        "a value was expected here",
        "write a value, or close the bracket before this position; quote a value that begins with a special character such as ':'"
      )
    case "did not find expected <document start>":
      (
        "the document ends before this position",
        "check the brackets and the indentation before this position; '---' must follow lines that begin with '%'"
      )
    default: nil
    }
  }

  private static func scalar(_ problem: String, context: String?) -> (message: String, help: String?)? {
    switch problem {
    case "found unexpected end of stream" where context?.contains("quoted scalar") == true:
      ("the text ends inside quotes", "close the quotes")
    case "found unexpected document indicator":
      ("'---' or '...' begins a line inside quotes", "close the quotes, or indent the line")
    case "found character that cannot start any token":
      ("this character cannot start a value", "put the value in quotes")
    case "found unexpected ':'":
      ("a ':' is not allowed here", "put the value in quotes")
    case "found unknown escape character":
      ("this escape sequence is invalid in double quotes", "use single quotes, or write the backslash twice")
    case "did not find expected hexdecimal number", "found invalid Unicode character escape code":
      (
        "this escape sequence is not a Unicode character",
        "write '\\xHH', '\\uHHHH' or '\\UHHHHHHHH' with hexadecimal digits"
      )
    case "did not find expected comment or line break":
      ("only a comment is allowed here", "begin the text on the next line")
    case "found an indentation indicator equal to 0":
      ("an indentation indicator of 0 is not allowed", "write 1 to 9, or omit it")
    case "did not find expected alphabetic or numeric character"
    where context?.contains("anchor") == true || context?.contains("alias") == true:
      (
        "an anchor name was expected here",
        "quote a value that begins with '*' or '&'; anchor names consist of letters, digits, '-' and '_'"
      )
    case "found duplicate anchor":
      (problem, "give the anchor a different name")
    default: nil
    }
  }

  private static func directive(_ problem: String) -> (message: String, help: String?)? {
    switch problem {
    case "found unknown directive name":
      ("this directive is unknown", "remove the line; the only directives are '%YAML' and '%TAG'")
    case "could not find expected directive name":
      ("a '%' cannot begin a line here", "put the value in quotes, or indent it")
    case "found incompatible YAML document":
      ("this version of YAML is not supported", "remove the line; ferry reads YAML 1.2")
    case "found duplicate %YAML directive", "found duplicate %TAG directive":
      ("this directive is repeated", "remove one of them")
    case "found undefined tag handle":
      ("this tag is not supported", "remove the tag; ferry reads plain YAML")
    default: nil
    }
  }
}

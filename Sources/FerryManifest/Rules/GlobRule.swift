/// The syntax rules for globs.
enum GlobRule {
  /// The unclosed bracket or brace; `nil` if there is none.
  static func unclosed(_ glob: String) -> Character? {
    var braces = 0
    var inClass = false
    var isEscaped = false
    for letter in glob {
      switch letter {
      case _ where isEscaped: isEscaped = false
      case "\\": isEscaped = true
      case "]": inClass = false
      case "[": inClass = true
      case "{" where !inClass: braces += 1
      case "}" where !inClass && braces > 0: braces -= 1
      default: break
      }
    }
    return inClass ? "[" : braces > 0 ? "{" : nil
  }
}

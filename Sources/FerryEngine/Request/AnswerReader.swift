import FerryPlan
import FerryTransfer

/// One answer, looked into several times; its body is parsed once, and only where that is asked for.
struct AnswerReader {
  let answer: TransferAnswer
  private var json: JSONValue??
  private var text: String?

  init(_ answer: TransferAnswer) { self.answer = answer }

  /// `nil` for a body that is not JSON.
  mutating func bodyJSON() -> JSONValue? {
    if let json { return json }
    let parsed = JSONParser.parse(answer.body)
    json = .some(parsed)
    return parsed
  }

  /// The first match of a regular expression (Swift's Regex, Unicode scalars) over the body as UTF-8.
  mutating func firstMatch(_ pattern: String) throws -> Regex<AnyRegexOutput>.Match? {
    let body = text ?? String(decoding: answer.body, as: UTF8.self)
    text = body
    return try Regex(pattern).matchingSemantics(.unicodeScalar).firstMatch(in: body)
  }
}

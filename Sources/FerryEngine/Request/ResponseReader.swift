import FerryManifest
import FerryPlan
import FerryTransfer

/// Reads one response several times. The body is parsed at most once, when it is first needed.
struct ResponseReader {
  let answer: TransferResponse
  private let patterns: Patterns
  private var json: Result<JSONValue, JSONProblem>?
  private var xml: Result<XMLValue, XMLProblem>?
  private var text: String?

  init(_ answer: TransferResponse, _ patterns: Patterns) {
    self.answer = answer
    self.patterns = patterns
  }

  mutating func bodyJSON() throws(JSONProblem) -> JSONValue {
    if let json { return try json.get() }
    let body = answer.body
    let parsed = Result { () throws(JSONProblem) in try JSONParser.parse(body) }
    json = parsed
    return try parsed.get()
  }

  mutating func bodyXML() throws(XMLProblem) -> XMLValue {
    if let xml { return try xml.get() }
    let body = answer.body
    let parsed = Result { () throws(XMLProblem) in try XMLReader.read(body) }
    xml = parsed
    return try parsed.get()
  }

  /// Searches the body as UTF-8 for the first match of a regular expression; invalid bytes are replaced.
  mutating func firstMatch(_ pattern: String) throws(SearchFailure) -> Pattern.Match? {
    let body = text ?? String(decoding: answer.body, as: UTF8.self)
    text = body
    return try patterns.firstMatch(of: pattern, in: body)
  }
}

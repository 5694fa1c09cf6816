import FlyingFox
import Foundation

/// Notes, redirects and faults.
extension RequestHandler {
  func noteDone(_ body: inout RequestBody) async throws -> HTTPResponse {
    let data = try await body.gather()
    let value = try JSONDecoder().decode(JSONValue.self, from: data)
    guard ledger.withLock({ $0.note(value, size: data.count) }) else {
      return .problem(
        HTTPStatusCode(507, phrase: "Insufficient Storage"), "full",
        "at most \(Ledger.doneLimit) bytes of these bodies are kept")
    }
    return .empty(.noContent)
  }

  /// Redirects any request: `?to=URL&status=307`. The default status is 307.
  func redirect(_ request: HTTPRequest) -> HTTPResponse {
    let query = FormFields(request.target.query())
    let status = query["status"].map { Int($0) ?? 0 } ?? 307
    guard [301, 302, 303, 307, 308].contains(status) else {
      return .problem(
        .badRequest, "invalid_status", "the status of a redirect must be 301, 302, 303, 307 or 308")
    }
    // Other characters would allow the query to add header fields.
    guard let target = query["to"], !target.isEmpty,
      target.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else {
      return .problem(.badRequest, "invalid_target", "add ?to=URL, in printable ASCII without spaces")
    }
    var headers = HTTPHeaders()
    headers[.location] = target
    return .empty(HTTPStatusCode(status, phrase: "Redirect"), headers: headers)
  }

  /// Adds one fault or a list of them, and responds with all active faults.
  func addFaults(_ body: inout RequestBody) async throws -> HTTPResponse {
    let data = try await body.gather()
    let isList = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
    let decoder = JSONDecoder()
    let faults =
      isList ? try decoder.decode([Fault].self, from: data) : [try decoder.decode(Fault.self, from: data)]
    return try .json(
      ledger.withLock { ledger in
        faults.forEach { ledger.faults.add($0) }
        return ledger.faults.faults
      })
  }

  func clearFaults() -> HTTPResponse {
    ledger.withLock { $0.faults.removeAll() }
    return .empty(.noContent)
  }
}

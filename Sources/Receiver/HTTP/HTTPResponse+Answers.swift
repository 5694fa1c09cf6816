import FlyingFox
import Foundation

/// The kinds of response that the routes send.
extension HTTPResponse {
  static func empty(_ status: HTTPStatusCode, headers: HTTPHeaders = [:]) -> HTTPResponse {
    HTTPResponse(statusCode: status, headers: headers)
  }

  static func json(
    _ value: some Encodable, _ status: HTTPStatusCode = .ok, headers: HTTPHeaders = [:]
  ) throws -> HTTPResponse {
    var headers = headers
    headers[.contentType] = "application/json"
    return HTTPResponse(statusCode: status, headers: headers, body: try JSONEncoder.receiver.encode(value))
  }

  /// An error: `{"error": code, "error_description": text}`. All routes use these names, which are defined
  /// in RFC 6749.
  static func problem(
    _ status: HTTPStatusCode, _ code: String, _ description: String, headers: HTTPHeaders = [:]
  ) -> HTTPResponse {
    // Two strings can always be encoded. If encoding fails nonetheless, the response is empty.
    let answer = try? json(["error": code, "error_description": description], status, headers: headers)
    return answer ?? .empty(status, headers: headers)
  }
}

extension HTTPRequest {
  /// Whether `If-None-Match` contains `*` or this entity tag, by the weak comparison of RFC 9110, section
  /// 8.8.3.2.
  func has(entityTag: String) -> Bool {
    let field = headers[.ifNoneMatch] ?? ""
    return field.split(separator: ",").contains { element in
      let tag = element.trimmingCharacters(in: .whitespaces)
      return tag == "*" || tag == entityTag || tag == "W/\(entityTag)"
    }
  }
}

extension HTTPStatusCode {
  /// A status that is known only by its number.
  static func numbered(_ code: Int) -> HTTPStatusCode {
    HTTPStatusCode(code, phrase: "As Requested")
  }
}

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

  /// An error: `{"error": code, "error_description": what}`. Every route uses these names, which are those of
  /// RFC 6749.
  static func problem(
    _ status: HTTPStatusCode, _ code: String, _ description: String, headers: HTTPHeaders = [:]
  ) -> HTTPResponse {
    // Two strings can always be encoded. If that fails nonetheless, the response is empty.
    let answer = try? json(["error": code, "error_description": description], status, headers: headers)
    return answer ?? .empty(status, headers: headers)
  }

  /// The bytes of a file, or the part that the request asks for, or 304 if the client already has them.
  ///
  /// If the file is replaced between head and body, the connection ends, which a client must handle at any
  /// time.
  static func content(_ content: StoredContent, to request: HTTPRequest) throws -> HTTPResponse {
    let tag = "\"\(content.sha256)\""
    var headers: HTTPHeaders = [.eTag: tag, .acceptRanges: "bytes", .contentType: "application/octet-stream"]
    if request.has(entityTag: tag) {
      headers[.contentLength] = String(content.size)
      return .empty(.notModified, headers: headers)
    }
    let mayBePart = request.headers[HTTPHeader("If-Range")].map { $0 == tag } ?? true
    let range = ByteRange(mayBePart ? request.headers[.range] : nil, size: content.size)
    let bytes: Range<Int>
    let status: HTTPStatusCode
    switch range {
    case .whole:
      (bytes, status) = (0..<content.size, .ok)
    case .part(let part):
      (bytes, status) = (part, .partialContent)
      headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(content.size)"
    case .unsatisfiable:
      headers[.contentRange] = "bytes */\(content.size)"
      return .problem(
        .rangeNotSatisfiable, "range_not_satisfiable", "there are \(content.size) bytes", headers: headers)
    }
    if request.method == .HEAD || bytes.isEmpty {
      headers[.contentLength] = String(bytes.count)
      return .empty(status, headers: headers)
    }
    let body = try HTTPBodySequence(file: content.file, range: bytes, suggestedBufferSize: 128 * 1024)
    return HTTPResponse(statusCode: status, headers: headers, body: body)
  }
}

extension HTTPRequest {
  /// Whether `If-None-Match` names this entity tag, by the weak comparison of RFC 9110, section 8.8.3.2.
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

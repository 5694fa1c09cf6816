import FlyingFox
import Foundation

extension HTTPResponse {
  /// A response with the bytes of a file or the requested part of them, or a 304 response if the client
  /// already has the bytes.
  ///
  /// If the file is replaced between head and body, the connection ends, which a client must be able to
  /// handle at any time.
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
        .rangeNotSatisfiable, "range_not_satisfiable", "the size is \(content.size) bytes", headers: headers)
    }
    if request.method == .HEAD || bytes.isEmpty {
      headers[.contentLength] = String(bytes.count)
      return .empty(status, headers: headers)
    }
    let body = try HTTPBodySequence(file: content.file, range: bytes, suggestedBufferSize: 128 * 1024)
    return HTTPResponse(statusCode: status, headers: headers, body: body)
  }
}

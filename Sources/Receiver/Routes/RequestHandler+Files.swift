import FlyingFox
import Foundation

/// Plain files, the inbox, and the content that clients can fetch.
extension RequestHandler {
  func putFile(
    _ name: String, _ request: HTTPRequest, _ body: inout RequestBody
  ) async throws -> HTTPResponse {
    if let refusal = refusalOfPart(request) { return refusal }
    let content = try await store.receive(&body)
    let replaced = ledger.withLock { $0.put(content, named: name) }
    replaced?.discard()
    return .empty(replaced == nil ? .created : .noContent, headers: [.eTag: "\"\(content.sha256)\""])
  }

  func getFile(_ name: String, _ request: HTTPRequest) throws -> HTTPResponse {
    guard let content = ledger.withLock({ $0.file(named: name) }) else {
      return .problem(.notFound, "not_found", "there is no file at this path")
    }
    return try .content(content, to: request)
  }

  /// Stores a new post for every request, so the request is not idempotent.
  func post(_ request: HTTPRequest, _ body: inout RequestBody) async throws -> HTTPResponse {
    guard let name = FormFields(request.target.query())["name"], !name.isEmpty else {
      return .problem(.badRequest, "name_missing", "add ?name=NAME")
    }
    let content = try await store.receive(&body)
    return try .json(ledger.withLock { $0.post(content, named: name) }, .created)
  }

  func blob(_ name: String, _ request: HTTPRequest) throws -> HTTPResponse {
    guard let content = ledger.withLock({ $0.uploads.content(named: name) }) else {
      return .problem(.notFound, "not_found", "there is no commit with this name")
    }
    return try .content(content, to: request)
  }

  func catalog(_ request: HTTPRequest) throws -> HTTPResponse {
    let catalog = try ledger.withLock { try $0.uploads.catalog() }
    var headers: HTTPHeaders = [
      .eTag: catalog.entityTag,
      .contentType: "application/json",
      .cacheControl: "no-cache",
    ]
    // The date is not set in the literal, because the literal would treat the comma in the date as a
    // separator between two values.
    headers[.lastModified] = catalog.modified.httpDate
    let isKnown = request.has(entityTag: catalog.entityTag)
    guard isKnown || request.method == .HEAD else {
      return HTTPResponse(statusCode: .ok, headers: headers, body: catalog.body)
    }
    headers[.contentLength] = String(catalog.body.count)
    return .empty(isKnown ? .notModified : .ok, headers: headers)
  }
}

import FlyingFox
import Foundation

/// Upload IDs: allocate, send the content, commit or abandon.
extension RequestHandler {
  private struct Wish: Decodable {
    let name: String
    let size: Int?
  }

  private struct Allocation: Encodable {
    let id: String
    /// The lifetime in seconds.
    let life: Double

    enum CodingKeys: String, CodingKey {
      case id
      case life = "expires_in"
    }
  }

  func allocate(_ body: inout RequestBody) async throws -> HTTPResponse {
    let wish = try JSONDecoder().decode(Wish.self, from: try await body.gather())
    guard !wish.name.isEmpty, wish.size ?? 0 >= 0 else {
      return .problem(.badRequest, "invalid_upload", "an upload must have a name, and a size of at least 0")
    }
    let id = UUID().uuidString.lowercased()
    let life = configuration.uploadLife.inSeconds
    let expiry = configuration.now().addingTimeInterval(life)
    ledger.withLock { $0.uploads.allocate(id: id, name: wish.name, size: wish.size, until: expiry) }
    return try .json(
      Allocation(id: id, life: life), .created, headers: [.location: "/uploads/\(id)"])
  }

  func receiveContent(
    _ id: String, _ request: HTTPRequest, _ body: inout RequestBody
  ) async throws -> HTTPResponse {
    if let refusal = refusalOfPart(request) { return refusal }
    let now = configuration.now()
    try ledger.withLock { try $0.uploads.admit(id, at: now) }
    let content = try await store.receive(&body)
    do {
      try ledger.withLock { try $0.uploads.keep(content, for: id) }?.discard()
    } catch {
      content.discard()
      throw error
    }
    return .empty(.noContent)
  }

  /// A repeated commit with the same `Idempotency-Key` gets the same response again.
  func commit(
    _ id: String, _ request: HTTPRequest, _ body: inout RequestBody
  ) async throws -> HTTPResponse {
    let data = try await body.gather()
    let claim =
      data.isEmpty ? UploadBook.Claim() : try JSONDecoder().decode(UploadBook.Claim.self, from: data)
    let now = configuration.now()
    let key = request.headers[HTTPHeader("Idempotency-Key")]
    let (receipt, replaced) = try ledger.withLock {
      try $0.uploads.commit(id, claim: claim, key: key, at: now)
    }
    replaced?.discard()
    return try .json(receipt)
  }

  private struct UploadState: Encodable {
    let id: String
    let state: UploadBook.State
  }

  func state(of id: String) throws -> HTTPResponse {
    try .json(UploadState(id: id, state: try ledger.withLock { try $0.uploads.state(of: id) }))
  }

  func abandon(_ id: String) throws -> HTTPResponse {
    try ledger.withLock { try $0.uploads.abandon(id) }?.discard()
    return .empty(.noContent)
  }

  /// Rejects partial content, which must never be mistaken for the whole (RFC 9110, section 14.5).
  func refusalOfPart(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.headers[.contentRange] != nil else { return nil }
    return .problem(.badRequest, "no_parts", "a body with Content-Range is not supported")
  }
}

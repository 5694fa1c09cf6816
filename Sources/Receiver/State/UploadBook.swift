import Foundation

/// The issued upload IDs, and the requests for each name.
struct UploadBook {
  /// The reason why a request for an upload ID is refused.
  enum Refusal: Error, Equatable {
    case unknown
    case expired
    case committed
    /// The sent content differs from the announced content.
    case mismatch(String)
  }

  /// The data that a commit states about the upload. All values are optional.
  struct Claim: Decodable {
    var sha256: String?
    var size: Int?
    var name: String?
  }

  private struct Upload {
    let name: String
    let size: Int?
    let expiry: Date
    var content: StoredContent?
    var isCommitted = false
  }

  /// The progress of an upload, as reported by `GET /uploads/ID`.
  enum State: String, Encodable {
    case allocated
    case whole
    case committed
  }

  private var uploads: [String: Upload] = [:]
  /// The results of commits that have an idempotency key, by key.
  private var receipts: [String: Listing.Post] = [:]
  private var names: [String: Listing.Upload] = [:]
  private var committed: [String: StoredContent] = [:]
  private var modified: Date
  private var cachedCatalog: Catalog?

  init(at now: Date) {
    modified = now
  }

  /// The requests for each name, ordered by name.
  var listing: [Listing.Upload] {
    var listed = names
    for upload in uploads.values where !upload.isCommitted { listed[upload.name]?.open += 1 }
    return listed.values.sorted { $0.name < $1.name }
  }

  /// The content last committed under a name.
  func content(named name: String) -> StoredContent? { committed[name] }

  mutating func allocate(id: String, name: String, size: Int?, until expiry: Date) {
    uploads[id] = Upload(name: name, size: size, expiry: expiry)
    names[name, default: Listing.Upload(name: name)].allocations += 1
  }

  /// Throws an error unless a body may be sent for the ID.
  func admit(_ id: String, at now: Date) throws(Refusal) {
    _ = try open(id, at: now)
  }

  /// Stores a completely received body, and returns the body that it replaces.
  ///
  /// If the ID has expired in the meantime, the body is still stored; only the commit is then refused.
  mutating func keep(_ content: StoredContent, for id: String) throws(Refusal) -> StoredContent? {
    let upload = try open(id, at: .distantPast)
    uploads[id]?.content = content
    names[upload.name, default: Listing.Upload(name: upload.name)].contents += 1
    return upload.content
  }

  /// Commits the content sent under an ID, and returns the receipt and the content that was replaced.
  mutating func commit(
    _ id: String, claim: Claim, key: String? = nil, at now: Date
  ) throws(Refusal) -> (receipt: Listing.Post, replaced: StoredContent?) {
    if let receipt = key.flatMap({ receipts[$0] }) { return (receipt, nil) }
    let upload = try open(id, at: now)
    guard let content = upload.content else { throw .mismatch("no complete content has been received") }
    for size in [upload.size, claim.size] {
      if let size, size != content.size { throw .mismatch("the size is \(content.size), not \(size)") }
    }
    if let sha256 = claim.sha256, sha256.lowercased() != content.sha256 {
      throw .mismatch("the SHA-256 is \(content.sha256), not \(sha256)")
    }
    if let name = claim.name, name != upload.name {
      throw .mismatch("the name is '\(upload.name)', not '\(name)'")
    }
    uploads[id]?.isCommitted = true
    uploads[id]?.content = nil
    var record = names[upload.name, default: Listing.Upload(name: upload.name)]
    record.commits += 1
    record.size = content.size
    record.sha256 = content.sha256
    names[upload.name] = record
    modified = now
    cachedCatalog = nil
    let replaced = committed.updateValue(content, forKey: upload.name)
    let receipt = Listing.Post(name: upload.name, size: content.size, sha256: content.sha256)
    if let key { receipts[key] = receipt }
    return (receipt, replaced)
  }

  func state(of id: String) throws(Refusal) -> State {
    guard let upload = uploads[id] else { throw .unknown }
    if upload.isCommitted { return .committed }
    return upload.content == nil ? .allocated : .whole
  }

  /// Removes an ID, and returns the content sent under it.
  mutating func abandon(_ id: String) throws(Refusal) -> StoredContent? {
    // An expired ID may also be abandoned, so that its content is removed.
    let upload = try open(id, at: .distantPast)
    uploads[id] = nil
    return upload.content
  }

  /// The current catalog.
  mutating func catalog() throws -> Catalog {
    if let cachedCatalog { return cachedCatalog }
    let catalog = try Catalog(of: committed, modified: modified)
    cachedCatalog = catalog
    return catalog
  }

  private func open(_ id: String, at now: Date) throws(Refusal) -> Upload {
    guard let upload = uploads[id] else { throw .unknown }
    // An executed commit is permanent, regardless of the ID's lifetime.
    if upload.isCommitted { throw .committed }
    if now >= upload.expiry { throw .expired }
    return upload
  }
}

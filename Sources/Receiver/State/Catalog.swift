import FerryDigest
import Foundation

/// The committed content, in the form of `GET /catalog.json`.
struct Catalog: Sendable {
  private struct Item: Encodable {
    let name: String
    let size: Int
    let sha256: String
  }

  private struct Page: Encodable {
    let items: [Item]
  }

  /// The body, `{"items": [{"name", "size", "sha256"}, …]}`, ordered by name.
  let body: Data
  /// A strong entity tag: the same tag means the same bytes.
  let entityTag: String
  /// The time of the latest commit or, before the first one, of the start.
  let modified: Date

  init(of contents: [String: StoredContent], modified: Date) throws {
    let items = contents.sorted { $0.key < $1.key }
      .map { Item(name: $0.key, size: $0.value.size, sha256: $0.value.sha256) }
    body = try JSONEncoder.receiver.encode(Page(items: items))
    entityTag = "\"\(SHA256.hash(body).hexadecimal)\""
    self.modified = modified
  }
}

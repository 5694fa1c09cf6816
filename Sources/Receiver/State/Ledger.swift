import Foundation

/// The receiver's state. The received bytes are on disk; all other state is kept in memory and is lost when
/// the process ends.
struct Ledger {
  /// The maximum total size of the stored bodies of `POST /done`, in bytes.
  static let doneLimit = 16 * 1024 * 1024

  var tokens = TokenBook()
  var uploads: UploadBook
  var faults = FaultPlan()
  private var files: [String: (content: StoredContent, puts: Int)] = [:]
  private var inbox: [Listing.Post] = []
  private var done: [JSONValue] = []
  private var doneSize = 0
  private var requests = 0

  init(faults: [Fault], at now: Date) {
    uploads = UploadBook(at: now)
    faults.forEach { self.faults.add($0) }
  }

  /// Counts a request, and returns the fault that applies to it.
  mutating func arrive(_ route: RouteClass, target: String) -> Fault? {
    requests += 1
    return faults.count(route, target: target)
  }

  func file(named name: String) -> StoredContent? { files[name]?.content }

  /// Stores a file, and returns the file that it replaces.
  mutating func put(_ content: StoredContent, named name: String) -> StoredContent? {
    let old = files[name]
    files[name] = (content, (old?.puts ?? 0) + 1)
    return old?.content
  }

  mutating func post(_ content: StoredContent, named name: String) -> Listing.Post {
    let post = Listing.Post(name: name, size: content.size, sha256: content.sha256)
    inbox.append(post)
    return post
  }

  /// Stores the body of a `POST /done`. Returns false if it would exceed `doneLimit`.
  mutating func note(_ value: JSONValue, size: Int) -> Bool {
    guard doneSize + size <= Self.doneLimit else { return false }
    doneSize += size
    done.append(value)
    return true
  }

  var listing: Listing {
    Listing(
      uploads: uploads.listing,
      files: files.sorted { $0.key < $1.key }.map { name, file in
        Listing.File(name: name, size: file.content.size, sha256: file.content.sha256, puts: file.puts)
      },
      inbox: inbox, done: done, requests: requests, tokens: tokens.issued)
  }
}

import FerryDigest
import FerryJournal
import FerryPlan

extension Node {
  /// What identifies the node's row in the journal, together with the manifest and the node's name.
  struct RowIdentity: Hashable {
    var kind: NodeRow.Kind
    var origin: String
  }

  /// The identity of the node's row; `nil` for a token, which has no row.
  var rowIdentity: RowIdentity? {
    switch work {
    case .token: nil
    case .upload(let work): RowIdentity(kind: work.rowKind, origin: work.first.origin?.description ?? "")
    case .fetch(let work): RowIdentity(kind: .fetch, origin: work.step.documentIdentity)
    case .request(let work): RowIdentity(kind: .request, origin: work.step.origin?.description ?? "")
    }
  }
}

extension UploadWork {
  /// The kind of the batch's row in the journal.
  fileprivate var rowKind: NodeRow.Kind { download == nil ? .upload : .download }
}

extension Step {
  /// Identifies a fetch by its URL: each URL is a document with its own validators and interval.
  fileprivate var documentIdentity: String {
    let query = request.query.map { "&\($0.name)=\($0.value)" }.joined()
    let digest = SHA256.hash((request.url.description + query).utf8)
    let mark = Hexadecimal.text(digest.prefix(8))
    return "\(origin?.description ?? "") \(mark)"
  }
}

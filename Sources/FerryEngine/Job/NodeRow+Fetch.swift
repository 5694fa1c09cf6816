import FerryDigest
import FerryJournal
import FerryPlan

extension NodeRow {
  /// Identifies a fetch by its URL and its checksum: each URL is a document with its own validators and interval, and a
  /// stored document counts only for the checksum that was compared with it.
  static func identity(ofFetch step: Step) -> String {
    let query = step.request.query.map { "&\($0.name)=\($0.value)" }.joined()
    let checksum = step.request.checksum.map { "\nchecksum: \($0)" } ?? ""
    let digest = SHA256.hash((step.request.url.description + query + checksum).utf8)
    let mark = Hexadecimal.text(digest.prefix(8))
    return "\(step.origin?.description ?? "") \(mark)"
  }
}

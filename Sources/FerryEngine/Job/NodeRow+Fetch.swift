import FerryDigest
import FerryJournal
import FerryPlan

extension NodeRow {
  /// Identifies a fetch by its URL: each URL is a document with its own validators and interval.
  static func identity(ofFetch step: Step) -> String {
    let query = step.request.query.map { "&\($0.name)=\($0.value)" }.joined()
    let digest = SHA256.hash((step.request.url.description + query).utf8)
    let mark = Hexadecimal.text(digest.prefix(8))
    return "\(step.origin?.description ?? "") \(mark)"
  }
}

import FerryPlan

/// What the next conditional request needs (RFC 9110 §13), and when it is due.
package struct FetchRecord: Hashable, Sendable {
  package var etag: String?
  package var lastModified: String?
  package var fetchedAt: Instant
  /// The time until the next fetch; `nil` without an interval, or if an older ferry wrote it.
  package var interval: Duration?
  /// The file whose content the validators describe; `nil` if an older ferry wrote them.
  package var file: FileVersion?
  /// What the validators belong to: a digest of the URL that sent them and of what was asked of it.
  package var source: String?

  package init(
    etag: String?, lastModified: String?, fetchedAt: Instant, interval: Duration? = nil,
    file: FileVersion? = nil, source: String? = nil
  ) {
    (self.file, self.source) = (file, source)
    self.etag = etag
    self.lastModified = lastModified
    self.fetchedAt = fetchedAt
    self.interval = interval
  }
}

import FerryPlan

/// The data that the next conditional request needs (RFC 9110 §13), and the time at which it is due.
package struct FetchRecord: Hashable, Sendable {
  package var etag: String?
  package var lastModified: String?
  package var fetchedAt: Instant
  /// The time until the next fetch; `nil` without an interval, or if an older version of ferry wrote the
  /// record.
  package var interval: Duration?
  /// The file whose content the validators describe; `nil` if an older version of ferry wrote them.
  package var file: FileVersion?
  /// A digest that identifies the source of the validators: the URL that returned them, and the
  /// representations that the request accepted.
  package var source: String?
  /// The time until which the server allows the document to be used without a request; `nil` if it has not stated one.
  package var freshUntil: Instant?

  package init(
    etag: String?, lastModified: String?, fetchedAt: Instant, interval: Duration? = nil,
    file: FileVersion? = nil, source: String? = nil, freshUntil: Instant? = nil
  ) {
    self.freshUntil = freshUntil
    (self.file, self.source) = (file, source)
    self.etag = etag
    self.lastModified = lastModified
    self.fetchedAt = fetchedAt
    self.interval = interval
  }
}

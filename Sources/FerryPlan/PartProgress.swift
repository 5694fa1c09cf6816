/// The state of a download's part, which holds the beginning of the document, after an attempt.
package struct PartProgress: Hashable, Sendable {
  /// The number of bytes that the attempt received and that the part keeps for a later attempt.
  package var kept: Int64
  /// The number of bytes of the document that the part has in total; 0 if there is no part.
  package var through: Int64
  /// The number of bytes that earlier attempts received and that are no longer kept, because this attempt did not
  /// continue the part.
  package var dropped: Int64

  package init(kept: Int64 = 0, through: Int64 = 0, dropped: Int64 = 0) {
    (self.kept, self.through, self.dropped) = (kept, through, dropped)
  }
}

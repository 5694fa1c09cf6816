/// Downloads that continue after an interruption.
extension Scheduler {
  /// The minimum number of bytes by which a download must advance before its retry count is reset to zero. If
  /// every byte reset the count, a server that sends one byte in each response would receive as many requests
  /// as the document has bytes.
  private static let leastAdvance: Int64 = 64 << 10

  /// Counts the bytes that a download's part keeps. Each byte counts as useful once, in the attempt that
  /// received it.
  mutating func count(_ part: PartProgress, of ref: ItemRef) {
    guard let known = self[attempts: ref]?.usefulBytes else { return }
    let dropped = min(part.dropped, known)
    metrics.countPart(kept: part.kept, dropped: dropped, of: ref.node)
    self[attempts: ref]?.usefulBytes = known - dropped +| part.kept
    // The part of an earlier version may have been larger.
    guard part.through >= (self[attempts: ref]?.greatestOffset ?? 0) +| Self.leastAdvance else { return }
    self[attempts: ref]?.greatestOffset = part.through
    self[attempts: ref]?.retries = 0
  }
}

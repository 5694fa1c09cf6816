import FerryManifest

extension Upload.Batch {
  /// Where the hand-over that begins at `start` ends: as much as `max_items` and `max_bytes` allow. A file
  /// larger than a batch is a batch of its own.
  func end(from start: Int, sizes: [Int64]) -> Int {
    guard maxItems != nil || maxBytes != nil else { return sizes.count }
    var end = start
    var bytes: Int64 = 0
    while end < sizes.count, end - start < maxItems ?? .max {
      let (sum, overflow) = bytes.addingReportingOverflow(sizes[end])
      if let maxBytes, end > start, overflow || sum > maxBytes { break }
      bytes = sum
      end += 1
    }
    return max(end, start + 1)
  }
}

import FerryManifest

extension Upload.Batch {
  /// The end of the batch that begins at `start`: as many items as `max_items` and `max_bytes` allow.
  ///
  /// A file that is larger than `max_bytes` forms its own batch.
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

import FerryPlan

/// The bytes of a document that a request asks for (RFC 9110, section 14.2).
enum RangeRequest: Equatable {
  /// The whole document.
  case whole
  /// The first bytes of a document of which nothing is known. If the server supports ranges, its response states the
  /// size of the document and its version.
  case first(Int64)
  /// The bytes from this one to the end of a known version.
  case rest(from: Int64)
  /// Some bytes of a known version.
  case range(Range<Int64>)

  /// What the first request of a download asks for.
  ///
  /// - Parameter kept: the part that an earlier request has left.
  init(after kept: PartRecord?, _ request: TransferRequest) {
    let connections = request.partOwner == nil ? 1 : request.connections
    guard let kept else {
      self = connections > 1 ? .first(request.leastRange) : .whole
      return
    }
    let missing = kept.written.missing(of: kept.size)
    // A part with gaps is continued in ranges, over a single connection too.
    guard let first = missing.first, connections > 1 || kept.written.hasGap else {
      self = .rest(from: kept.firstRequested)
      return
    }
    let length = SegmentedDownload.rangeLength(for: missing, request)
    self = .range(first.prefix(length))
  }

  /// The header fields of a request.
  ///
  /// - Parameter validator: that of the known version.
  func fields(_ validator: String?) -> [TransferRequest.HeaderField] {
    let range: String
    switch self {
    case .whole: return []
    case .first(let count): return [.init(name: "Range", value: "bytes=0-\(count - 1)")]
    case .rest(let first): range = "bytes=\(first)-"
    case .range(let bytes): range = "bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)"
    }
    guard let validator else { return [] }
    return [.init(name: "Range", value: range), .init(name: "If-Range", value: validator)]
  }

  /// The number of the first byte.
  var start: Int64 {
    switch self {
    case .whole, .first: 0
    case .rest(let first): first
    case .range(let bytes): bytes.lowerBound
    }
  }
}

extension Range<Int64> {
  /// The first `length` bytes, or all of them if there are fewer.
  func prefix(_ length: Int64) -> Self { lowerBound..<Swift.min(upperBound, lowerBound +| length) }
}

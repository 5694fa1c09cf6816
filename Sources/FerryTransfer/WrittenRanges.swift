/// The bytes of a document that a file has: ascending ranges that neither overlap nor touch.
struct WrittenRanges: Equatable, Sendable {
  private(set) var ranges: [Range<Int64>] = []

  init() {}

  /// - Parameter count: the number of bytes from the start of the document.
  init(first count: Int64) {
    if count > 0 { ranges = [0..<count] }
  }

  /// The number of bytes.
  var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// The number of bytes before the first one that is missing.
  var beginning: Int64 { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

  /// Whether there are bytes after the first one that is missing.
  var hasGap: Bool { count > beginning }

  mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    // A response is received in order, so a range usually extends one that exists.
    let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.endIndex
    let end = ranges[first...].firstIndex { $0.lowerBound > range.upperBound } ?? ranges.endIndex
    let lower = first < end ? min(range.lowerBound, ranges[first].lowerBound) : range.lowerBound
    let upper = first < end ? max(range.upperBound, ranges[end - 1].upperBound) : range.upperBound
    ranges.replaceSubrange(first..<end, with: CollectionOfOne(lower..<upper))
  }

  /// The ranges of a document that are missing.
  func missing(of size: Int64) -> [Range<Int64>] {
    var missing: [Range<Int64>] = []
    var start: Int64 = 0
    for range in ranges where start < size {
      if range.lowerBound > start { missing.append(start..<min(range.lowerBound, size)) }
      start = range.upperBound
    }
    if start < size { missing.append(start..<size) }
    return missing
  }

  // MARK: As text

  /// The number of bytes if there is no gap, and otherwise the ranges: `0-100,200-300`, where the end is not included.
  var text: String {
    hasGap ? ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",") : "\(count)"
  }

  /// The greatest length of the text in a record, which also contains a validator of up to `Validator.limit` bytes.
  static let textLimit = 2048

  /// The ranges without the last ones, if the text of all ranges is longer than `textLimit`. A server can interrupt
  /// ranges so that their number grows with each attempt. The omitted bytes are requested again.
  var recordable: WrittenRanges {
    var some = self
    while some.text.utf8.count > Self.textLimit { some.ranges.removeLast() }
    return some
  }

  /// Parses the form of ``text``. Returns `nil` if the text is not in that form, or if a range is not within the
  /// document.
  init?(_ text: String, of size: Int64) {
    if let count = Int64(text) {
      guard (0...size).contains(count) else { return nil }
      self.init(first: count)
      return
    }
    self.init()
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2, let lower = Int64(ends[0]), let upper = Int64(ends[1]), lower >= 0,
        lower < upper,
        upper <= size, ranges.last.map({ $0.upperBound < lower }) ?? true
      else { return nil }
      ranges.append(lower..<upper)
    }
  }
}

import CPCRE2

/// The cost of one search so far, and its limit: a few tenths of a second for the largest response that is kept in
/// memory (1 MiB).
struct SearchWork {
  /// For one position of the subject. The callouts count over all positions.
  static let matchLimit: UInt32 = 5_000_000
  /// For nested backtracking. Each level takes about 150 bytes.
  static let depthLimit: UInt32 = 250_000
  /// For backtracking, in KiB.
  static let heapLimit: UInt32 = 32 << 10

  /// The most steps that a search of `size` bytes may take. A pattern that reads each byte a few times stays below.
  static func limit(size: Int) -> Int { 5_000_000 + 4 * size }

  /// Passing over this many bytes in a loop of PCRE2's own costs about as much as trying one item.
  private static let bytesPerStep = 8
  /// Callouts between two calls of `isOutOfTime`.
  private static let timeInterval = 256

  private let limit: Int
  private let isOutOfTime: () -> Bool
  private var steps = 0
  private var callouts = 0
  private var position = 0

  init(limit: Int, isOutOfTime: @escaping () -> Bool) {
    self.limit = limit
    self.isOutOfTime = isOutOfTime
  }

  /// An item of the pattern is about to be tried. Returns 0 to continue, or the code that ends the search.
  mutating func count(at position: Int) -> Int32 {
    callouts += 1
    steps += 1 + max(0, position - self.position) / Self.bytesPerStep
    self.position = position
    guard steps <= limit else { return PCRE2_ERROR_CALLOUT }
    guard callouts % Self.timeInterval == 0, isOutOfTime() else { return 0 }
    return PCRE2_ERROR_CALLOUT
  }
}

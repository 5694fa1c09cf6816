import CPCRE2

/// The work of one search so far, and its limit: a few tenths of a second for the largest response kept in
/// memory (1 MiB).
struct SearchWork {
  /// PCRE2's match limit, which applies to one position of the subject. The callouts count over all
  /// positions.
  static let matchLimit: UInt32 = 5_000_000
  /// The limit for nested backtracking. Each level takes about 150 bytes.
  static let depthLimit: UInt32 = 250_000
  /// The limit for the memory of backtracking, in KiB.
  static let heapLimit: UInt32 = 32 << 10

  /// The maximum number of steps in a search of `size` bytes. A pattern that reads each byte a few times
  /// stays below it.
  static func limit(size: Int) -> Int { 5_000_000 + 4 * size }

  /// The number of bytes that one of PCRE2's internal loops passes over in about the time of trying one
  /// item.
  private static let bytesPerStep = 8
  /// The number of callouts between two calls of `isOutOfTime`.
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

  /// Called when an item of the pattern is about to be tried. Returns 0 to continue, or the code that ends
  /// the search.
  mutating func count(at position: Int) -> Int32 {
    callouts += 1
    steps += 1 + max(0, position - self.position) / Self.bytesPerStep
    self.position = position
    guard steps <= limit else { return PCRE2_ERROR_CALLOUT }
    guard callouts % Self.timeInterval == 0, isOutOfTime() else { return 0 }
    return PCRE2_ERROR_CALLOUT
  }
}

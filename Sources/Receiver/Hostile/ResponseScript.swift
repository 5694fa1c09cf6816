/// The bytes of one response, as the front door writes them, and how the connection ends after them.
///
/// A long response is a short script: what repeats is there once.
struct ResponseScript: Sendable, Equatable {
  /// Bytes that are written a number of times.
  struct Step: Sendable, Equatable {
    var bytes: [UInt8]
    /// How often they are written; nil repeats them indefinitely.
    var count: Int? = 1
    /// How long the next bytes wait after each time.
    var interval = Duration.zero
    /// Where ten bytes are replaced each time by the number of the repetition, from 0.
    var numberOffset: Int?
  }

  /// The place in a text of ``add(numbered:count:)`` that takes the number.
  static let number = "##########"

  /// What happens once the last byte is written.
  enum Ending: Sendable, Equatable {
    /// The connection ends in order (FIN).
    case close
    /// A TCP reset.
    case reset
    /// Nothing: the client has to leave.
    case hold
  }

  private(set) var steps: [Step] = []
  var ending = Ending.close

  init(_ text: String = "", ending: Ending = .close) {
    self.ending = ending
    add(text)
  }

  /// Adds bytes; none where there are none, as an empty step would repeat nothing indefinitely.
  mutating func add(_ bytes: [UInt8], count: Int? = 1, interval: Duration = .zero) {
    guard !bytes.isEmpty, count != 0 else { return }
    steps.append(Step(bytes: bytes, count: count, interval: interval))
  }

  mutating func add(_ text: String, count: Int? = 1, interval: Duration = .zero) {
    add(Array(text.utf8), count: count, interval: interval)
  }

  /// Adds a text so many times, with the number of the repetition in place of ``number``.
  mutating func add(numbered text: String, count: Int) {
    guard count > 0 else { return }
    let bytes = Array(text.utf8)
    let offset = bytes.firstRange(of: Array(Self.number.utf8))?.lowerBound
    steps.append(Step(bytes: bytes, count: count, numberOffset: offset))
  }

  /// Adds `size` bytes that repeat `pattern`, whose last repetition may be cut.
  mutating func add(_ pattern: String, size: Int) {
    // Written in larger pieces than the pattern may be.
    let unit = Array(pattern.utf8)
    let piece = Array(repeatElement(unit, count: max(1, 4096 / unit.count)).joined())
    add(piece, count: size / piece.count)
    add(Array(piece.prefix(size % piece.count)))
  }
}

/// The bytes of one response written by the front door, and the end of the connection.
///
/// A long response has a short script, because repeated parts are stored once.
struct ResponseScript: Sendable, Equatable {
  /// Bytes that are written a number of times.
  struct Step: Sendable, Equatable {
    var bytes: [UInt8]
    /// The number of repetitions; nil means indefinitely.
    var count: Int? = 1
    /// The delay before the next bytes, after each repetition.
    var interval = Duration.zero
    /// The offset of ten bytes that are replaced, in each repetition, by the number of the repetition,
    /// counted from 0; nil if no bytes are replaced.
    var numberOffset: Int?
  }

  /// The placeholder for the number in a string of ``add(numbered:count:)``.
  static let number = "##########"

  /// The action after the last byte has been written.
  enum Ending: Sendable, Equatable {
    /// The connection is closed in an orderly way (FIN).
    case close
    /// A TCP reset.
    case reset
    /// No action: the client has to disconnect.
    case hold
  }

  private(set) var steps: [Step] = []
  var ending = Ending.close

  init(_ text: String = "", ending: Ending = .close) {
    self.ending = ending
    add(text)
  }

  /// Adds bytes. Has no effect if there are none, because an empty step would be repeated indefinitely.
  mutating func add(_ bytes: [UInt8], count: Int? = 1, interval: Duration = .zero) {
    guard !bytes.isEmpty, count != 0 else { return }
    steps.append(Step(bytes: bytes, count: count, interval: interval))
  }

  mutating func add(_ text: String, count: Int? = 1, interval: Duration = .zero) {
    add(Array(text.utf8), count: count, interval: interval)
  }

  /// Adds a string `count` times, with the number of the repetition in place of ``number``.
  mutating func add(numbered text: String, count: Int) {
    guard count > 0 else { return }
    let bytes = Array(text.utf8)
    let offset = bytes.firstRange(of: Array(Self.number.utf8))?.lowerBound
    steps.append(Step(bytes: bytes, count: count, numberOffset: offset))
  }

  /// Adds `size` bytes that repeat `pattern`; the last repetition may be truncated.
  mutating func add(_ pattern: String, size: Int) {
    // Short patterns are written in pieces of several repetitions.
    let unit = Array(pattern.utf8)
    let piece = Array(repeatElement(unit, count: max(1, 4096 / unit.count)).joined())
    add(piece, count: size / piece.count)
    add(Array(piece.prefix(size % piece.count)))
  }
}

import FlyingFox
import Foundation

/// The body of one request, which comes over the wire as it is read.
///
/// It must be read to its end before an answer is given, because FlyingFox takes the next bytes on the
/// connection for the next request.
struct RequestBody {
  /// The connection ended before the body did.
  struct CutShort: Error {}
  /// The body is longer than what may be held in memory.
  struct TooLarge: Error {}

  /// The longest body that is held in memory, in bytes.
  static let memoryLimit = 1024 * 1024

  private let sequence: HTTPBodySequence
  private let expected: Int?
  private var isRead = false

  init(of request: HTTPRequest) {
    sequence = request.bodySequence
    expected = request.headers[.contentLength].flatMap { Int($0) }
  }

  /// Gives the whole body to `take`, piece by piece.
  ///
  /// Throws ``CutShort``.
  mutating func read(_ take: (Data) -> Void) async throws(CutShort) {
    guard !isRead else { return }
    isRead = true
    var count = 0
    do {
      for try await piece in sequence {
        count += piece.count
        take(piece)
      }
    } catch {
      throw CutShort()
    }
    // AsyncBufferedPrefixSequence, which FlyingFox reads with, takes an early end for the end.
    if let expected, count < expected { throw CutShort() }
  }

  /// Reads the whole body into memory; throws ``TooLarge`` or ``CutShort``.
  mutating func gather() async throws -> Data {
    var gathered = Data()
    var isTooLarge = false
    try await read { piece in
      isTooLarge = isTooLarge || gathered.count + piece.count > Self.memoryLimit
      if !isTooLarge { gathered.append(piece) }
    }
    guard !isTooLarge else { throw TooLarge() }
    return gathered
  }

  /// Reads what nobody has wanted.
  mutating func drain() async {
    // A connection that breaks here has nobody left to tell.
    try? await read { _ in }
  }
}

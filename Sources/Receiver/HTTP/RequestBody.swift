import FlyingFox
import Foundation

/// The body of one request, which is received while it is read.
///
/// The body must be read to its end before a response is sent, because FlyingFox treats the next bytes on the
/// connection as the next request.
struct RequestBody {
  /// The connection ended before the body did.
  struct CutShort: Error {}
  /// The body is longer than the limit for bodies in memory.
  struct TooLarge: Error {}

  /// The maximum size of a body in memory, in bytes.
  static let memoryLimit = 1024 * 1024

  private let sequence: HTTPBodySequence
  private let expected: Int?
  private var isRead = false

  init(of request: HTTPRequest) {
    sequence = request.bodySequence
    expected = request.headers[.contentLength].flatMap { Int($0) }
  }

  /// Passes the whole body to `take`, piece by piece.
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
    // AsyncBufferedPrefixSequence, with which FlyingFox reads, treats a premature end as the end of the body.
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

  /// Reads and discards the unread part.
  mutating func drain() async {
    // If the connection is lost here, the client can no longer receive an error.
    try? await read { _ in }
  }
}

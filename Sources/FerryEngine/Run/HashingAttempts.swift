import FerryDigest
import FerryPlan
import FerryTransfer

/// Attempts whose requests are sent when the transfer loop has computed a digest: of their file, or of the part of it that
/// they send.
struct HashingAttempts {
  struct Waiting {
    var attempt: Attempt
    /// The algorithm for a part of the file; `nil` if the whole file is hashed.
    var part: DigestAlgorithm?
    /// The digests of the part that are already known.
    var known: PartDigests = [:]

    var algorithm: DigestAlgorithm { part ?? .sha256 }
  }

  private var waiting: [UInt64: Waiting] = [:]

  mutating func start(
    _ attempt: Waiting, _ source: TransferRequest.FileSource, on loop: any TransferPerforming, at now: Instant
  ) {
    let id = attempt.attempt.id
    waiting[id] = attempt
    loop.digest(
      id: id, source: source, algorithm: attempt.algorithm,
      timeLimit: attempt.attempt.deadline.map { now.duration(to: $0) })
  }

  /// Removes an attempt whose digest has been computed; returns `nil` if the attempt was canceled.
  mutating func remove(_ id: UInt64) -> Waiting? { waiting.removeValue(forKey: id) }

  /// Cancels an attempt; returns `false` if it does not wait for a digest.
  mutating func cancel(_ id: UInt64, on loop: any TransferPerforming) -> Bool {
    guard waiting.removeValue(forKey: id) != nil else { return false }
    loop.cancelDigest(id)
    return true
  }

  /// Cancels all attempts, and returns their IDs in the order in which the attempts began.
  mutating func cancelAll(on loop: any TransferPerforming) -> [UInt64] {
    let ids = waiting.keys.sorted()
    for id in ids { loop.cancelDigest(id) }
    waiting = [:]
    return ids
  }
}

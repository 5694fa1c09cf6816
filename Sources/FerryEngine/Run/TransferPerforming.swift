import FerryDigest
import FerryPlan
import FerryTransfer

/// Performs requests for the run loop, on the loop's thread. `TransferLoop` is the production
/// implementation.
protocol TransferPerforming: AnyObject {
  /// The number of requests that were started and have not ended.
  var inFlight: Int { get }
  /// The traffic of the requests in flight so far.
  var progress: Traffic { get }
  /// The traffic so far of one request in flight; zero if it is not in flight.
  func traffic(of id: UInt64) -> Traffic
  /// The bytes that all connections have transferred so far, in both directions.
  var transferredBytes: Int64 { get }

  /// Waits until a request completes, the loop is woken, or the timeout has passed; `nil` waits indefinitely.
  func turn(timeout: Duration?) -> [TransferOutcome]
  /// Starts a request, which ends in a later turn.
  func start(_ request: consuming TransferRequest)
  /// Ends a request as `cancelled` in a later turn, unless it has already ended.
  func cancel(_ id: UInt64)
  /// Hashes a file, or only the part to be sent. `takeDigests()` returns the outcome after a later turn.
  func digest(
    id: UInt64, source: TransferRequest.FileSource, algorithm: DigestAlgorithm, timeLimit: Duration?)
  func cancelDigest(_ id: UInt64)
  func takeDigests() -> [DigestOutcome]
  /// Removes and returns the interim responses that have arrived since the last call. Only requests that ask
  /// for interim responses report them.
  func takeInterim() -> [InterimResponse]
}

extension TransferLoop: TransferPerforming {
  var transferredBytes: Int64 { socketBytes.total }
}

import FerryDigest
import FerryJournal
import FerryPlan
import FerryProcess
import Synchronization
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// Returns scripted responses to requests. A request that the script does not expect is recorded as an issue.
final class ScriptedTransfers: TransferPerforming {
  /// Returns the outcome of a request, in the turn after its start.
  var respond: ((TransferRequest) -> Result<TransferResponse, TransportFailure>)?
  /// Called at the beginning of each turn.
  var onTurn: (() -> Void)?
  private(set) var requests: [TransferRequest] = []
  private(set) var cancelled: [UInt64] = []
  private(set) var hashed: [UInt64] = []
  var digests: [DigestOutcome] = []
  var interim: [InterimResponse] = []
  var transferredBytes: Int64 = 0
  private var pending: [TransferOutcome] = []
  private var turns = 0

  var inFlight: Int { pending.count }
  var progress: Traffic { Traffic() }

  func traffic(of id: UInt64) -> Traffic { Traffic() }

  func turn(timeout: Duration?) -> [TransferOutcome] {
    turns += 1
    if turns > 1000 { fatalError("the run does not end") }
    onTurn?()
    defer { pending = [] }
    return pending
  }

  func start(_ request: TransferRequest) {
    requests.append(request)
    guard let respond else {
      Issue.record("an unexpected request to \(request.url)")
      return
    }
    pending.append(
      TransferOutcome(id: request.id, result: respond(request), traffic: Traffic(), duration: .zero))
  }

  func cancel(_ id: UInt64) { cancelled.append(id) }

  func digest(
    id: UInt64, source: TransferRequest.FileSource, algorithm: DigestAlgorithm, timeLimit: Duration?
  ) {
    hashed.append(id)
  }

  func cancelDigest(_ id: UInt64) { hashed.removeAll { $0 == id } }

  func takeInterim() -> [InterimResponse] {
    defer { interim = [] }
    return interim
  }

  func takeDigests() -> [DigestOutcome] {
    defer { digests = [] }
    return digests
  }
}

/// Keeps the writes in memory, and immediately reports each as synced. A test can make all further writes fail.
final class RecordedWrites: JournalAppending {
  private struct State {
    var writes: [JournalWrite] = []
    var failure: JournalError?
  }

  private let state = Mutex(State())
  private let messages: Mailbox<RunMessage>

  init(_ messages: Mailbox<RunMessage>) { self.messages = messages }

  var writes: [JournalWrite] { state.withLock { $0.writes } }

  func fail(with error: JournalError) { state.withLock { $0.failure = error } }

  func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64 {
    let result: Result<UInt64, JournalError> = state.withLock { state in
      if let failure = state.failure { return .failure(failure) }
      state.writes += writes
      return .success(UInt64(state.writes.count))
    }
    let number = try result.get()
    messages.post(.journal(.synced(through: number)))
    return number
  }

  func sync() throws(JournalError) -> UInt64 { state.withLock { UInt64($0.writes.count) } }
}

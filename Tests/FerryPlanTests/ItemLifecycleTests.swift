import FerryManifest
import Foundation
import Testing

@testable import FerryPlan

/// Compares `ItemLifecycle` with an independent statement of its rules, and that statement with the table in
/// `docs/internals/item-lifecycle.md`.
struct ItemLifecycleTests {
  /// A row of the table: a transition, and the states in which it is possible.
  struct Row: Sendable {
    let transition: String
    let samples: [ItemTransition]
    /// The states in which the transition is possible, in words and as a predicate.
    let state: String
    let isPossible: @Sendable (ItemLifecycle) -> Bool
    let newState: String
    let after: @Sendable (ItemLifecycle, ItemTransition) -> ItemLifecycle
    let journal: String
    let entries: @Sendable (ItemLifecycle, ItemTransition) -> [JournalEntry]

    var text: String { "| `\(transition)` | \(state) | \(newState) | \(journal) |" }
  }

  static let ref = ItemRef(NodeID(0), 7)
  static let now = Instant(nanoseconds: 9)
  static let failure = RecordedFailure(code: "http_status", message: "no")
  static let expires = Instant(nanoseconds: 99)

  static let stages: [ItemProgress.Stage] = [
    .unallocated, .allocated(nil), .allocated(.init(expires: expires)), .allocated(.init(isInherited: true)),
    .allocated(.init(isInherited: true, mayBeComplete: true, isRecorded: true)),
    .transferring(nil, .init(isUncertain: true)), .transferring(.init(), completable),
    .transferring(nil, completable),
    .transferring(.init(), .init(isUncertain: false)),
    .transferred(nil), .transferred(.init(expires: expires)),
  ]

  /// A transfer of which the server may have completed the upload.
  private static let completable: TransferState = {
    var state = TransferState(isUncertain: true)
    state.mayBeComplete = true
    return state
  }()

  static let progresses: [ItemProgress] = stages.flatMap { stage in
    [ItemProgress.Intent.none, .recorded, .inherited].flatMap { intent in
      [ItemProgress.Doubt.none, .possible, .unknown].flatMap { doubt in
        [ItemProgress.Activity.inProgress, .waiting].map { activity in
          ItemProgress(stage: stage, intent: intent, doubt: doubt, activity: activity)
        }
      }
    }
  }

  static let states: [ItemLifecycle] =
    [.listed, .remaining, .closed(.done), .closed(.failed)] + progresses.map { .queued($0) }
    + progresses.map { .begun($0) }

  static let transitions = Array(Set(rows.flatMap(\.samples)))

  @Test(arguments: [false, true], [(false, false), (false, true), (true, true)])
  func everyTransitionMatchesTheTable(isCommitAsked: Bool, ids: (hasAllocate: Bool, areKept: Bool)) {
    let context = ItemContext(
      ref: Self.ref, now: Self.now, orphan: 3, isCommitAsked: isCommitAsked, hasAllocate: ids.hasAllocate,
      keepsUploadID: ids.areKept)
    for state in Self.states {
      for transition in Self.transitions {
        let rows = Self.rows(isCommitAsked, hasAllocate: ids.hasAllocate, keepsUploadID: ids.areKept).filter {
          $0.samples.contains(transition) && $0.isPossible(state)
        }
        let change = state.applying(transition, in: context)
        guard let row = rows.first, rows.count == 1 else {
          #expect(rows.isEmpty, "several rows are for \(transition) in \(state)")
          #expect(change == nil, "no row is for \(transition) in \(state)")
          continue
        }
        #expect(change?.state == row.after(state, transition), "\(transition) in \(state)")
        #expect(change?.entries == row.entries(state, transition), "\(transition) in \(state)")
      }
    }
  }

  @Test func thePageHasTheTable() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/internals/item-lifecycle.md").standardized
    let table =
      ["| transition | in the state | new state | journal |", "|---|---|---|---|"] + Self.rows.map(\.text)
    let text = try String(contentsOf: page, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let begin = lines.firstIndex(of: table[0]) else {
      Issue.record("the page has no table of transitions")
      return
    }
    let present = Array(lines[begin...].prefix { $0.hasPrefix("|") })
    guard present != table else { return }
    Issue.record("the table of item-lifecycle.md is stale: record it with FERRY_RECORD=1, and review it")
    guard ProcessInfo.processInfo.environment["FERRY_RECORD"] != nil else { return }
    let new = lines[..<begin] + table + lines[(begin + present.count)...]
    try Data(new.joined(separator: "\n").utf8).write(to: page)
  }

  /// Computes the counters independently of the code.
  @Test func eachStateCountsAsDocumented() {
    #expect(ItemLifecycle.listed.counts == .init(open: 1))
    #expect(ItemLifecycle.closed(.done).counts == .init() && ItemLifecycle.remaining.counts == .init())
    for progress in Self.progresses {
      #expect(ItemLifecycle.queued(progress).counts == .init(open: 1, batch: 1, untransferred: 1))
      let counts = ItemLifecycle.begun(progress).counts
      #expect(counts.open == 1 && counts.batch == 1)
      #expect(counts.untransferred == (isTransferred(progress) ? 0 : 1))
      #expect(counts.inProgress == (progress.activity == .inProgress ? 1 : 0))
      let isAhead = progress.stage == .unallocated || Self.isAllocatedWithID(progress)
      #expect(counts.ahead == (isAhead ? 1 : 0))
    }
  }

  @Test func aCommitThatMayHaveBeenExecutedEndsAmbiguous() {
    for progress in Self.progresses {
      for state in [ItemState.done, .failed, .ambiguous, .cancelled] {
        let isKept = state == .done || state == .ambiguous
        let begun = ItemLifecycle.begun(progress).end(as: state, Self.failure).state
        let isInDoubt = progress.doubt == .unknown || progress.intent == .inherited
        #expect(begun == (isKept || !isInDoubt ? state : .ambiguous))
        let queued = ItemLifecycle.queued(progress).end(as: state, Self.failure).state
        #expect(queued == (isKept || progress.intent == .none ? state : .ambiguous))
      }
    }
  }

  private func isTransferred(_ progress: ItemProgress) -> Bool {
    switch progress.stage {
    case .transferred: true
    case .unallocated, .allocated, .transferring: false
    }
  }

  private static func isAllocatedWithID(_ progress: ItemProgress) -> Bool {
    if case .allocated(.some) = progress.stage { true } else { false }
  }
}

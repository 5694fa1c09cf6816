import FerryManifest
import FerryPlan
import Testing

struct ReconciliationTests {
  enum Outcome: Equatable {
    case entry(ItemTable.Entry)
    case delivered, failed, cancelled, ambiguous
  }

  struct Row: CustomTestStringConvertible {
    var state: ItemState
    var deliver = Upload.Deliver.whenChanged
    var hasChanged = false
    var isOldRound = false
    var intent: ItemStep?
    var isSubmittedAnew = false
    var outcome: Outcome

    var testDescription: String {
      "\(state) \(deliver) \(hasChanged ? "changed" : "same") \(isOldRound ? "old round" : "this round")"
    }
  }

  static let rows: [Row] = [
    Row(state: .queued, outcome: .entry(.continuing)),
    Row(state: .allocated, outcome: .entry(.continuing)),
    Row(state: .transferred, outcome: .entry(.continuing)),
    Row(state: .allocated, hasChanged: true, outcome: .entry(.changed)),
    Row(state: .queued, hasChanged: true, outcome: .entry(.changed)),
    Row(state: .queued, hasChanged: true, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .queued, isOldRound: true, outcome: .entry(.requeued)),
    // Commits that may have been executed are resolved first, whatever has changed since then.
    Row(state: .queued, hasChanged: true, intent: .transfer, outcome: .entry(.continuing)),
    Row(state: .transferred, isOldRound: true, intent: .commit, outcome: .entry(.adopted)),
    Row(state: .transferred, hasChanged: true, isOldRound: true, intent: .commit, outcome: .entry(.adopted)),
    Row(state: .allocated, isOldRound: true, outcome: .entry(.adopted)),
    Row(state: .transferred, isOldRound: true, outcome: .entry(.adopted)),
    Row(state: .transferred, hasChanged: true, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .done, deliver: .once, outcome: .delivered),
    Row(state: .done, deliver: .once, hasChanged: true, isOldRound: true, outcome: .delivered),
    Row(state: .done, outcome: .delivered),
    Row(state: .done, isOldRound: true, outcome: .delivered),
    Row(state: .done, hasChanged: true, outcome: .entry(.requeued)),
    Row(state: .done, hasChanged: true, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .done, deliver: .everyRun, outcome: .delivered),
    Row(state: .done, deliver: .everyRun, hasChanged: true, outcome: .delivered),
    Row(state: .done, deliver: .everyRun, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .failed, outcome: .failed),
    Row(state: .failed, hasChanged: true, outcome: .entry(.requeued)),
    Row(state: .failed, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .cancelled, outcome: .cancelled),
    Row(state: .cancelled, isOldRound: true, outcome: .entry(.requeued)),
    Row(state: .failed, isSubmittedAnew: true, outcome: .entry(.requeued)),
    Row(state: .cancelled, isSubmittedAnew: true, outcome: .entry(.requeued)),
    Row(state: .done, isSubmittedAnew: true, outcome: .delivered),
    Row(state: .ambiguous, isSubmittedAnew: true, outcome: .ambiguous),
    Row(state: .ambiguous, outcome: .ambiguous),
    Row(state: .ambiguous, deliver: .everyRun, hasChanged: true, isOldRound: true, outcome: .ambiguous),
  ]

  @Test(arguments: rows)
  func theRecordOfAListedFileDecidesItsDisposition(row: Row) {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: row.hasChanged ? 2 : 1, modified: 0)
    var reconciliation = Reconciliation(listing: listing, deliver: row.deliver, round: 5, nextRow: 10)
    var known = Reconciliation.Known(
      row: 3, round: row.isOldRound ? 4 : 5, state: row.state, intent: row.intent, size: 1, modified: 0)
    known.isSubmittedAnew = row.isSubmittedAnew
    reconciliation.meet(known, path: "a".utf8)
    reconciliation.finish()
    let settled = reconciliation.settled
    let outcome: Outcome =
      if let entry = reconciliation.items.entries.first {
        .entry(entry)
      } else if settled.delivered == 1 {
        .delivered
      } else if settled.failedInRound == 1 {
        .failed
      } else if settled.cancelledInRound == 1 {
        .cancelled
      } else {
        .ambiguous
      }
    #expect(outcome == row.outcome)
    #expect(reconciliation.items.rows == (reconciliation.items.count == 1 ? [3] : []))
    #expect(settled.ambiguous == (row.outcome == .ambiguous ? 1 : 0))
    #expect(reconciliation.nextRow == 10)
  }

  /// The server has a part of the file that had this path before.
  @Test(
    arguments: [(7, 7, false), (7, 8, true), (7, 0, false), (nil, 8, false)] as [(UInt64?, UInt64, Bool)])
  func anUploadInPartsStartsOverIfItsFileIsAnother(known identity: UInt64?, listed: UInt64, startsOver: Bool)
  {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: 1, modified: 0, identity: listed)
    var reconciliation = Reconciliation(listing: listing, deliver: .once, round: 5, nextRow: 10)
    var known = Reconciliation.Known(row: 3, round: 5, state: .allocated, size: 1, modified: 0)
    known.partialIdentity = identity
    reconciliation.meet(known, path: "a".utf8)
    #expect(reconciliation.items.entries == [startsOver ? .changed : .continuing])
    #expect(reconciliation.items.begun.isEmpty == startsOver)
  }

  /// Otherwise, the item's time limit would start at a time in the future.
  @Test func anItemThatWasQueuedInTheFutureCountsAsQueuedNow() {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: 1, modified: 0)
    for isInFuture in [false, true] {
      var reconciliation = Reconciliation(listing: listing, deliver: .once, round: 5, nextRow: 10)
      var known = Reconciliation.Known(
        row: 3, round: 5, state: .allocated, size: 1, modified: 0, handedOver: Instant(nanoseconds: 9))
      known.isQueuedInFuture = isInFuture
      reconciliation.meet(known, path: "a".utf8)
      #expect(reconciliation.items.entries == [isInFuture ? .adopted : .continuing])
      #expect(reconciliation.items.handedOver == [isInFuture ? ItemTable.notHandedOver : 9])
      #expect(reconciliation.items.begun.count == 1)
    }
  }

  @Test func newFilesAreMergedInOrderWithKnownFiles() {
    var listing = FileColumns()
    for path in ["a", "b", "c", "d"] { listing.append(path: path.utf8, size: 1, modified: 0) }
    var reconciliation = Reconciliation(listing: listing, deliver: .whenChanged, round: 1, nextRow: 8)
    reconciliation.meet(.init(row: 1, round: 1, state: .queued, size: 1, modified: 0), path: "b".utf8)
    reconciliation.meet(.init(row: 2, round: 1, state: .done, size: 1, modified: 0), path: "c".utf8)
    reconciliation.finish()
    #expect(reconciliation.items.rows == [8, 1, 9])
    #expect(reconciliation.items.entries == [.new, .continuing, .new])
    #expect(reconciliation.nextRow == 10)
  }

  @Test func anUnlistedFileNeedsAnOutcomeOnlyIfItIsOpen() {
    for (state, round, count) in [
      (ItemState.allocated, 2, 1), (.allocated, 1, 1), (.queued, 1, 1), (.done, 2, 0), (.failed, 2, 0),
    ] {
      var reconciliation = Reconciliation(listing: FileColumns(), deliver: .whenChanged, round: 2, nextRow: 8)
      reconciliation.meet(
        .init(row: 1, round: Int64(round), state: state, size: 1, modified: 0), path: "x".utf8)
      reconciliation.finish()
      #expect(reconciliation.items.count == count, "\(state) of round \(round)")
    }
  }

  @Test(arguments: [false, true])
  func aDeliveredFileThatShouldHaveBeenRemovedIsSentAgainOnlyIfItChanged(hasChanged: Bool) {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: hasChanged ? 2 : 1, modified: 0)
    var reconciliation = Reconciliation(listing: listing, deliver: .everyRun, round: 5, nextRow: 10)
    reconciliation.meet(
      .init(row: 3, round: 4, state: .done, size: 1, modified: 0, owesAfter: true), path: "a".utf8)
    reconciliation.finish()
    #expect(reconciliation.items.count == (hasChanged ? 1 : 0))
    #expect(reconciliation.settled.owedAfter == 1)
  }
}

@Suite struct PathOrderTests {
  /// Paths with lengths around eight bytes, bytes above 0x7F, and paths that are prefixes of others.
  static let paths: [[UInt8]] = [
    [], [0], [0, 0], [0x7F], [0x80], [0xFF], Array("a".utf8), Array("a/b".utf8), Array("1234567".utf8),
    Array("12345678".utf8), Array("123456789".utf8), Array("1234567\u{0}".utf8), Array("12345679".utf8),
    Array("12345678abcdefgh".utf8), Array("12345678abcdefgi".utf8), Array("22345678abcdefgh".utf8),
    Array("12345678".utf8) + [0x80], Array("12345678".utf8) + [0x7F], [0x80] + Array("1234567".utf8),
  ]

  @Test func pathsAreInTheOrderOfTheirBytes() {
    var columns = FileColumns()
    for path in Self.paths { columns.append(path: path, size: 0, modified: 0) }
    for (index, a) in Self.paths.enumerated() {
      for b in Self.paths {
        let expected: FileColumns.Order =
          a == b ? .same : a.lexicographicallyPrecedes(b) ? .before : .behind
        #expect(b.withUnsafeBytes { columns.order(index, to: $0) } == expected, "\(a) \(b)")
      }
    }
  }
}

import Testing

@testable import FerryJournal

/// The encoding of the record that counts a journal's transactions.
@Suite struct CommitCountsTests {
  private let boot = "6b7f2ef6-5f62-4f1d-9a3c-1f6a2d1f0c11"

  @Test func theRecordHasAFixedLengthAndIsReadBack() {
    for counts in [
      CommitCounts(committed: 0, synced: 0, boot: ""), CommitCounts(committed: 12, synced: 7, boot: boot),
      CommitCounts(committed: .max, synced: .max, boot: boot),
    ] {
      #expect(counts.bytes.count == CommitCounts.length)
      #expect(CommitCounts(counts.bytes) == counts)
    }
  }

  @Test func everyChangedByteIsFound() {
    let bytes = CommitCounts(committed: 4711, synced: 4700, boot: boot).bytes
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        #expect(CommitCounts(changed) == nil, "byte \(index), bit \(bit)")
      }
    }
    #expect(CommitCounts(Array(bytes.dropLast())) == nil)
    #expect(CommitCounts(bytes + [10]) == nil)
  }

  @Test func inAnotherBootOnlySyncedTransactionsAreRequired() {
    let counts = CommitCounts(committed: 12, synced: 7, boot: boot)
    #expect(counts.required(in: boot) == 12)
    #expect(counts.required(in: "another") == 7)
    #expect(CommitCounts(committed: 12, synced: 7, boot: "").required(in: "") == 7)
    #expect(counts.lost(from: 9, in: boot) == 3)
    #expect(counts.lost(from: 9, in: "another") == 0)
  }

  /// If the page is damaged, the journal may contain any number as its count.
  @Test func anImpossibleCountIsALoss() {
    let counts = CommitCounts(committed: 12, synced: 7, boot: boot)
    #expect(counts.lost(from: .min, in: boot) == .max)
  }
}

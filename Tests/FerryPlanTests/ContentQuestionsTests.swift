import FerryManifest
import FerryPlan
import Testing

struct ContentQuestionsTests {
  private static let own = ContentDigest([UInt8](repeating: 1, count: 32))
  private static let other = ContentDigest((0..<32).map { UInt8($0) })

  struct Row: CustomTestStringConvertible {
    var what: String
    var state = ItemState.done
    var size: Int64 = 7
    var modified: Int64 = 5
    /// Whether the journal has a digest of the file.
    var hasDigest = true
    /// The file's current content; `nil` if it cannot be read.
    var holds: ContentDigest? = ContentQuestionsTests.own
    var isRead = true
    var answer: ContentComparison
    var isConfirmed = false

    var testDescription: String { what }
  }

  /// In the journal, the file has the size 7 and the modification time 5.
  static let rows: [Row] = [
    Row(what: "as it was", answer: .same),
    Row(what: "touched", modified: 9, answer: .same, isConfirmed: true),
    Row(what: "rewritten, size and time restored", holds: other, answer: .other),
    Row(what: "rewritten", modified: 9, holds: other, answer: .other),
    Row(what: "of another size", size: 8, isRead: false, answer: .other),
    Row(what: "unreadable", holds: nil, answer: .other),
    Row(what: "delivered without a digest", hasDigest: false, answer: .same, isConfirmed: true),
    Row(
      what: "delivered without a digest, and touched", modified: 9, hasDigest: false, isRead: false,
      answer: .other),
    Row(what: "delivered without a digest, and unreadable", hasDigest: false, holds: nil, answer: .other),
    Row(what: "begun", state: .transferred, modified: 9, isRead: false, answer: .notAsked),
    Row(what: "failed", state: .failed, modified: 9, isRead: false, answer: .notAsked),
  ]

  @Test(arguments: rows)
  func theContentDecidesWhetherAFileIsSentAgain(row: Row) {
    var listing = FileColumns()
    listing.append(path: "0".utf8, size: 1, modified: 1)
    listing.append(path: "a".utf8, size: row.size, modified: row.modified)
    var questions = ContentQuestions(listing: listing)
    let known = Reconciliation.Known(row: 3, round: 4, state: row.state, size: 7, modified: 5)
    Array("a".utf8).withUnsafeBytes {
      questions.meet(known, delivered: row.hasDigest ? Self.own : nil, path: $0)
    }
    #expect(questions.questions.map(\.index) == (row.isRead ? [1] : []))
    if row.isRead { #expect(questions.answers == [.notAsked, .unread]) }
    for question in questions.questions { questions.answer(question, row.holds) }
    #expect(questions.answers == [.notAsked, row.answer])
    #expect(questions.confirmed.map(\.row) == (row.isConfirmed ? [3] : []))
    #expect(questions.confirmed.allSatisfy { $0.modified == row.modified && $0.digest == Self.own })
    guard row.state == .done else { return }
    var reconciliation = Reconciliation(
      listing: listing, deliver: .whenChanged, contents: questions.answers, round: 5, nextRow: 10)
    reconciliation.meet(known, path: "a".utf8)
    reconciliation.finish()
    #expect(reconciliation.items.rows == (row.answer == .same ? [10] : [10, 3]))
    #expect(reconciliation.settled.delivered == (row.answer == .same ? 1 : 0))
  }

  @Test func unreadFilesCountAsUnchangedAndAreCounted() {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: 1, modified: 9)
    var reconciliation = Reconciliation(
      listing: listing, deliver: .whenChanged, contents: [.unread], round: 5, nextRow: 10)
    reconciliation.meet(.init(row: 3, round: 4, state: .done, size: 1, modified: 5), path: "a".utf8)
    reconciliation.finish()
    #expect(reconciliation.items.count == 0)
    #expect(reconciliation.settled.delivered == 1 && reconciliation.settled.unread == 1)
  }

  @Test func otherDeliverPoliciesReadNoContent() {
    var listing = FileColumns()
    listing.append(path: "a".utf8, size: 1, modified: 5)
    for (deliver, count) in [(Upload.Deliver.once, 0), (.everyRun, 1)] {
      var reconciliation = Reconciliation(
        listing: listing, deliver: deliver, contents: [.other], round: 5, nextRow: 10)
      reconciliation.meet(.init(row: 3, round: 4, state: .done, size: 1, modified: 5), path: "a".utf8)
      #expect(reconciliation.items.count == count)
    }
  }

  @Test func aDigestReturnsItsBytes() {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
    #expect(ContentDigest(bytes)?.bytes == bytes)
    #expect(ContentDigest(bytes.dropLast()) == nil && ContentDigest(bytes + [0]) == nil)
  }
}

/// What a look into a listed file has told of its delivery. One byte a file.
package enum ContentComparison: UInt8, Sendable {
  /// There is no delivery to compare it with.
  case notAsked
  /// It holds what was delivered.
  case same
  /// It holds something else, or could not be read to its end: it is to be sent, and sending it tells.
  case other
  /// Nobody has looked.
  case unread
}

/// Which delivered files have to be read to tell whether they changed, and what that told: `compare: content`.
///
/// A file of another size has changed, and is not read. One of the same size is read, whatever its time says. One that
/// was delivered without a digest, before `content` was asked for, is taken for what was delivered where its time is
/// still the same, and for another file where it is not.
package struct ContentQuestions: Sendable {
  /// A file to be read.
  package struct Question: Sendable {
    /// Its place in the listing.
    package var index: Int
    var row: Int64
    /// Of what was delivered, where it is known.
    var delivered: ContentDigest?
    /// Its modification time is not that of its delivery.
    var isTouched: Bool
  }

  /// A delivered file that holds what was delivered, and of which the journal says less or another time.
  package struct Confirmed: Sendable {
    package var row: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64
    package var digest: ContentDigest
  }

  package private(set) var questions: [Question] = []
  /// By the files' places in the listing.
  package private(set) var answers: [ContentComparison]
  /// What the journal is to be told.
  package private(set) var confirmed: [Confirmed] = []

  private let listing: FileColumns
  private var cursor = 0

  /// - Parameter listing: sorted by path bytes, no path twice.
  package init(listing: FileColumns) {
    self.listing = listing
    answers = Array(repeating: .notAsked, count: listing.count)
  }

  /// Meets one row of the journal; rows come sorted by path bytes.
  ///
  /// - Parameter delivered: the digest of its last delivery, where that is known.
  package mutating func meet(
    _ known: Reconciliation.Known, delivered: ContentDigest?, path: UnsafeRawBufferPointer
  ) {
    guard catchUp(with: path) else { return }
    let index = cursor
    cursor += 1
    guard known.state == .done else { return }
    let isTouched = listing.modified[index] != known.modified
    guard listing.sizes[index] == known.size, delivered != nil || !isTouched else {
      answers[index] = .other
      return
    }
    answers[index] = .unread
    questions.append(Question(index: index, row: known.row, delivered: delivered, isTouched: isTouched))
  }

  /// Passes what is listed before a path; true where the path itself is listed.
  private mutating func catchUp(with path: UnsafeRawBufferPointer) -> Bool {
    while cursor < listing.count {
      switch listing.order(cursor, to: path) {
      case .before: cursor += 1
      case .same: return true
      case .behind: return false
      }
    }
    return false
  }

  /// Takes what the file of a question holds.
  ///
  /// - Parameter digest: `nil` where it could not be read.
  package mutating func answer(_ question: Question, _ digest: ContentDigest?) {
    guard let digest, question.delivered ?? digest == digest else {
      answers[question.index] = .other
      return
    }
    answers[question.index] = .same
    guard question.isTouched || question.delivered == nil else { return }
    confirmed.append(
      Confirmed(row: question.row, modified: listing.modified[question.index], digest: digest))
  }
}

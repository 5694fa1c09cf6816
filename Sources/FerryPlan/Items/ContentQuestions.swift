/// The result of comparing a listed file's contents with its delivery. One byte per file.
package enum ContentComparison: UInt8, Sendable {
  /// There is no delivery to compare the file with.
  case notAsked
  /// The content equals the delivered content.
  case same
  /// The content differs, or could not be read completely. The file is sent, and sending it reports any
  /// error.
  case other
  /// The file has not been read.
  case unread
}

/// Determines which delivered files must be read to detect changes (`compare: content`), and stores the
/// results.
///
/// A file with a different size has changed and is not read. A file with the same size is read, regardless
/// of its modification time. A file that was delivered without a digest, before `content` was configured, is
/// treated as unchanged if its modification time is the same, and as changed otherwise.
package struct ContentQuestions: Sendable {
  /// A file to be read.
  package struct Question: Sendable {
    /// The file's index in the listing.
    package var index: Int
    var row: Int64
    /// The digest of the delivery, if it is known.
    var delivered: ContentDigest?
    /// Whether the file's modification time has changed since its delivery.
    var isTouched: Bool
  }

  /// A delivered file whose content is unchanged, but for which the journal has no digest, or has a different
  /// modification time.
  package struct Confirmed: Sendable {
    package var row: Int64
    /// The modification time in nanoseconds since 1970.
    package var modified: Int64
    package var digest: ContentDigest
  }

  package private(set) var questions: [Question] = []
  /// The results, by the files' indices in the listing.
  package private(set) var answers: [ContentComparison]
  /// The updates for the journal.
  package private(set) var confirmed: [Confirmed] = []

  private let listing: FileColumns
  private var cursor = 0

  /// - Parameter listing: sorted by path bytes, without duplicate paths.
  package init(listing: FileColumns) {
    self.listing = listing
    answers = Array(repeating: .notAsked, count: listing.count)
  }

  /// Merges one row of the journal; rows are passed sorted by path bytes.
  ///
  /// - Parameter delivered: the digest of the item's last delivery, if known.
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

  /// Skips the listed files before a path. Returns whether the path itself is listed.
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

  /// Records the digest of a file's contents.
  ///
  /// - Parameter digest: `nil` if the file could not be read.
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

/// The paths that could not be listed: a bounded number of them in the order in which they were found, and how many
/// more there are. A list may name millions of missing files.
package struct ListingProblems: Sendable {
  /// How many problems of each kind, failures and others, are kept for the files that a manifest selects.
  package static let most = 10_000

  private let limit: Int
  private var kept: [ListingProblem] = []
  /// Among those that are kept.
  private var keptFailures = 0
  /// The number of problems that are not kept and for which a requested file is not delivered.
  package private(set) var omittedFailures = 0
  private var omittedOthers = 0

  /// - Parameter limit: how many problems of each kind are kept.
  init(limit: Int = most) { self.limit = limit }

  /// The number of problems that are not kept.
  package var omitted: Int { omittedFailures + omittedOthers }
  /// The number of all requested files that are not delivered because of a problem.
  var failures: Int { keptFailures + omittedFailures }

  mutating func append(_ problem: ListingProblem) {
    if problem.isFailure {
      guard keptFailures < limit else { return omittedFailures += 1 }
      keptFailures += 1
    } else {
      guard kept.count - keptFailures < limit else { return omittedOthers += 1 }
    }
    kept.append(problem)
  }
}

/// The problems that are kept.
extension ListingProblems: RandomAccessCollection {
  package var startIndex: Int { kept.startIndex }
  package var endIndex: Int { kept.endIndex }
  package subscript(index: Int) -> ListingProblem { kept[index] }
}

extension ListingProblems {
  /// A line for people about the problems that are not kept; `nil` if all are.
  var omission: String? { omitted > 0 ? "and \(omitted) more" : nil }
}

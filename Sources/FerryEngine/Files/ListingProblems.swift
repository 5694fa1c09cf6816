/// The paths that could not be listed: a limited number of them, in the order in which they were found, and
/// the number of the others. A list may name millions of missing files.
package struct ListingProblems: Sendable {
  /// The number of problems of each kind (failures and others) that are kept for a manifest's selection.
  package static let most = 10_000

  private let limit: Int
  private var kept: [ListingProblem] = []
  /// The number of failures among the kept problems.
  private var keptFailures = 0
  /// The number of requested files that are not delivered because of a problem that was not kept.
  package private(set) var omittedFailures = 0
  private var omittedOthers = 0

  /// - Parameter limit: the number of problems of each kind to keep.
  init(limit: Int = most) { self.limit = limit }

  /// The number of problems that were not kept.
  package var omitted: Int { omittedFailures + omittedOthers }
  /// The total number of requested files that are not delivered because of a problem.
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

  /// Removes kept problems.
  mutating func removeAll(where isRemoved: (ListingProblem) -> Bool) {
    kept.removeAll(where: isRemoved)
    keptFailures = kept.count(where: \.isFailure)
  }
}

/// The kept problems.
extension ListingProblems: RandomAccessCollection {
  package var startIndex: Int { kept.startIndex }
  package var endIndex: Int { kept.endIndex }
  package subscript(index: Int) -> ListingProblem { kept[index] }
}

extension ListingProblems {
  /// A line about the problems that were not kept; `nil` if all were kept.
  var omission: String? { omitted > 0 ? "and \(omitted) more" : nil }
}

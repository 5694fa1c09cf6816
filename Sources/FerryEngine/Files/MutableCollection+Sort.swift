extension MutableCollection where Self: RandomAccessCollection {
  /// Sorts the elements, and checks every 65,536 comparisons whether the run was stopped: names that differ only at their ends
  /// take long to compare.
  ///
  /// - Returns: whether the elements are sorted; false if the run was stopped.
  mutating func sort(
    unless isStopped: () -> Bool, by areInIncreasingOrder: (Element, Element) -> Bool
  ) -> Bool {
    var comparisons = 0
    do {
      try sort { a, b in
        comparisons += 1
        if comparisons.isMultiple(of: 1 << 16), isStopped() { throw StoppedSort() }
        return areInIncreasingOrder(a, b)
      }
      return true
    } catch {
      return false
    }
  }
}

private struct StoppedSort: Error {}

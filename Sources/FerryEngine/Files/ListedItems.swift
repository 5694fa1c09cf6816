import FerryPlan
import Synchronization

/// The most recently read items of a download batch's list, with the values that the items' requests need.
///
/// A lister and its copies share this object: one copy reads the list, and requests are built with another.
final class ListedItems: Sendable {
  struct Contents: Sendable {
    /// The items' files, in byte order of their paths.
    var files = FileColumns()
    /// The fields that requests refer to.
    var fields: [String] = []
    /// The value of each field, in the order of the files.
    var values: [[String?]] = []
    /// The server of each item, if its URL is known without further values.
    var origins: [Origin?] = []
  }

  private struct State {
    var contents = Contents()
    var isRead = false
  }

  private let state = Mutex(State())

  func replace(with contents: Contents) { state.withLock { $0 = State(contents: contents, isRead: true) } }

  /// Whether the list has been read.
  var isRead: Bool { state.withLock { $0.isRead } }

  func contains(_ path: some Collection<UInt8>) -> Bool {
    state.withLock { $0.contents.index(of: path) != nil }
  }

  /// The values of `${item.…}` for the item with this path; `nil` if the list does not contain the item.
  func values(of path: some Collection<UInt8>) -> [String: String]? {
    state.withLock { state in
      let contents = state.contents
      return contents.index(of: path).map { index in
        var values: [String: String] = [:]
        for (field, column) in zip(contents.fields, contents.values) { values[field] = column[index] }
        return values
      }
    }
  }

  /// Records the servers of a table's items.
  func setOrigins(of table: inout ItemTable) {
    state.withLock { state in
      let contents = state.contents
      for item in 0..<table.count {
        if let index = contents.index(of: table.files.path(item)), let origin = contents.origins[index] {
          table.set(origin, of: item)
        }
      }
    }
  }
}

extension ListedItems.Contents {
  /// The position of a path, found by bisection.
  fileprivate func index(of path: some Collection<UInt8>) -> Int? {
    var (low, high) = (0, files.count)
    while low < high {
      let middle = (low + high) / 2
      if files.path(middle).lexicographicallyPrecedes(path) { low = middle + 1 } else { high = middle }
    }
    return low < files.count && files.path(low).elementsEqual(path) ? low : nil
  }
}

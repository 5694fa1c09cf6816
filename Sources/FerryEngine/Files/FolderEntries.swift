import FerryPlan
import FerryTransfer
import Foundation

/// The entries of the folders that a walk has not traversed completely: those of the root first, those of the current
/// folder last. Their names are stored one after another, in one array.
struct FolderEntries {
  struct Entry {
    /// The eight bytes of the name after the common prefix of all names in the folder, as a number with the same sort
    /// order.
    fileprivate var key: UInt64 = 0
    fileprivate var start: Int
    fileprivate var length: Int
    var isFolder: Bool
    var size: Int64 = 0
    var modified: Int64 = 0
    var identity: UInt64 = 0
  }

  private var entries: [Entry] = []
  private var names: [UInt8] = []
  /// Where the entries and the names of each folder begin.
  private var starts: [(entries: Int, names: Int)] = []

  /// The number of all entries, which is the index of the next one.
  var count: Int { entries.count }

  subscript(index: Int) -> Entry { entries[index] }

  func name(of entry: Entry) -> ArraySlice<UInt8> { names[entry.start..<(entry.start + entry.length)] }

  /// The entries that follow are those of a new folder.
  mutating func beginFolder() { starts.append((entries.count, names.count)) }

  /// Removes the entries of the last folder, which remains the last folder.
  mutating func clearFolder() {
    guard let start = starts.last else { return }
    entries.removeSubrange(start.entries...)
    names.removeSubrange(start.names...)
  }

  /// Removes the last folder.
  mutating func endFolder() {
    clearFolder()
    starts.removeLast()
  }

  mutating func appendFolder(_ name: UnsafeRawBufferPointer) {
    entries.append(Entry(start: names.count, length: name.count, isFolder: true))
    names.append(contentsOf: name)
  }

  /// - Parameters:
  ///   - status: of the file, or of the target of a link.
  ///   - isLink: whether the name is that of a link.
  mutating func appendFile(_ name: UnsafeRawBufferPointer, _ status: stat, isLink: Bool) {
    entries.append(
      Entry(
        start: names.count, length: name.count, isFolder: false, size: Int64(status.st_size),
        modified: status.modifiedNanoseconds, identity: status.identity(throughLink: isLink)))
    names.append(contentsOf: name)
  }

  /// Sorts the entries of the last folder, and removes duplicate names. readdir(3) may return a name twice if the
  /// folder changes while it is read.
  ///
  /// - Returns: whether the entries are sorted. If the run was stopped in the meantime, they are removed.
  mutating func sortFolder(unless isStopped: () -> Bool) -> Bool {
    guard let start = starts.last?.entries, entries.count - start > 1 else { return true }
    let isSorted = names.withUnsafeBufferPointer { names in
      entries.withUnsafeMutableBufferPointer { all in
        Self.sort(UnsafeMutableBufferPointer(rebasing: all[start...]), names, unless: isStopped)
      }
    }
    if isSorted { removeDuplicates(from: start) } else { clearFolder() }
    return isSorted
  }

  private static func sort(
    _ part: UnsafeMutableBufferPointer<Entry>, _ names: UnsafeBufferPointer<UInt8>,
    unless isStopped: () -> Bool
  ) -> Bool {
    var entries = part
    let first = entries[0]
    var common = first.length
    for entry in entries {
      common = min(common, entry.length)
      var length = 0
      while length < common, names[first.start + length] == names[entry.start + length] { length += 1 }
      common = length
    }
    /// A byte of a name for sorting. A folder's name is followed by a slash, as in the paths of its files.
    func letter(_ entry: Entry, _ index: Int) -> UInt8 {
      index < entry.length ? names[entry.start + index] : index == entry.length && entry.isFolder ? 0x2F : 0
    }
    for index in entries.indices {
      var key: UInt64 = 0
      for offset in 0..<8 { key = key << 8 | UInt64(letter(entries[index], common + offset)) }
      entries[index].key = key
    }
    return entries.sort(unless: isStopped) { a, b in
      if a.key != b.key { return a.key < b.key }
      var index = common + 8
      while index <= max(a.length, b.length) {
        let (x, y) = (letter(a, index), letter(b, index))
        if x != y { return x < y }
        index += 1
      }
      return false
    }
  }

  private mutating func removeDuplicates(from start: Int) {
    var end = start + 1
    while end < entries.count, !isSameName(entries[end - 1], entries[end]) { end += 1 }
    guard end < entries.count else { return }
    for index in end..<entries.count where !isSameName(entries[end - 1], entries[index]) {
      entries[end] = entries[index]
      end += 1
    }
    entries.removeSubrange(end...)
  }

  private func isSameName(_ a: Entry, _ b: Entry) -> Bool {
    a.key == b.key && a.isFolder == b.isFolder && a.length == b.length && name(of: a) == name(of: b)
  }
}

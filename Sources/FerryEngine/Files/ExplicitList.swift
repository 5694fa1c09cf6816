import FerryPlan
import FerryTransfer
import Foundation

/// Files that a list names individually.
struct ExplicitList {
  private let root: SourceRoot
  /// A folder whose files are skipped.
  private let hidden: [UInt8]?
  private var checkedFolder: (path: [UInt8], isPlain: Bool)?
  private var found = FileColumns()
  private var problems: [ListingProblem] = []

  init(root: SourceRoot, hidden: [UInt8]? = nil) {
    self.hidden = hidden
    self.root = root
  }

  /// Reads a list of paths. Blank lines are skipped; a carriage return is part of the path.
  mutating func read(_ bytes: [UInt8], nullSeparated: Bool) -> Listing {
    read(bytes.split(separator: nullSeparated ? 0 : 0x0A).map { Array($0) })
  }

  mutating func read(_ paths: [[UInt8]]) -> Listing {
    for path in paths { take(path) }
    return Listing(files: sorted(), problems: problems)
  }

  private mutating func take(_ line: [UInt8]) {
    guard !line.contains(0) else { return report(line, .missing, "a name with NUL in it") }
    guard let path = relative(line) else { return report(line, .outsideRoot, "it is outside the root") }
    guard !path.isEmpty else { return report(line, .notRegular, "not a regular file") }
    if let hidden, FileLister.isInside(path, hidden) {
      return report(line, .putAway, "it is in the folder that delivered files are moved to")
    }
    guard let status = status(of: path, line) else { return }
    guard status.isRegular else { return report(line, .notRegular, "not a regular file") }
    found.append(
      path: path, size: Int64(status.st_size), modified: status.modifiedNanoseconds,
      identity: status.identity)
  }

  /// The path without `.`, `..` and repeated slashes; `nil` if it leaves the root.
  private func relative(_ line: [UInt8]) -> [UInt8]? {
    var rest = line[...]
    if line.first == 0x2F {
      let folder = [root.path, root.real].first { line.starts(with: $0) && FileLister.isInside(line, $0) }
      guard let folder else { return nil }
      rest = line[folder.count...]
    }
    var parts: [ArraySlice<UInt8>] = []
    for part in rest.split(separator: 0x2F) {
      if part.elementsEqual([0x2E]) { continue }
      guard part.elementsEqual([0x2E, 0x2E]) else {
        parts.append(part)
        continue
      }
      guard parts.popLast() != nil else { return nil }
    }
    return Array(parts.joined(separator: [0x2F]))
  }

  /// What a path of the list leads to; `nil`, with a problem, if it is not there or not followed.
  private mutating func status(of path: [UInt8], _ line: [UInt8]) -> stat? {
    let folder = path.lastIndex(of: 0x2F).map { Array(path[..<$0]) } ?? []
    if isPlain(folder) {
      var status = stat()
      guard root.status(of: FileLister.terminated(path), &status, followsLinks: false) else {
        report(line, errno)
        return nil
      }
      guard status.st_mode & S_IFMT == S_IFLNK else { return status }
    }
    do throws(SourceRoot.OpenFailure) {
      let target = try root.target(of: path)
      guard let reason = LinkOwner.refusal(of: target) else { return target.status }
      report(line, .permission, reason)
    } catch {
      switch error {
      case .leavesRoot: report(line, .outsideRoot, "a link that leaves the root")
      case .system(let code): report(line, code)
      }
    }
    return nil
  }

  /// Whether no link is on the way to a folder. A list often names many files of one folder, so the last result is
  /// cached.
  private mutating func isPlain(_ folder: [UInt8]) -> Bool {
    if let checkedFolder, checkedFolder.path == folder { return checkedFolder.isPlain }
    let isPlain = root.isPlainFolder(folder)
    checkedFolder = (folder, isPlain)
    return isPlain
  }

  private mutating func report(_ line: [UInt8], _ code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: report(line, .missing, "it is not there")
    case EACCES, EPERM: report(line, .permission, FileLister.reason(code))
    default: report(line, .other, FileLister.reason(code))
    }
  }

  private mutating func report(_ line: [UInt8], _ kind: ListingProblem.Kind, _ message: String) {
    problems.append(ListingProblem(path: line, kind: kind, message: message))
  }

  private func sorted() -> FileColumns {
    var sorted = FileColumns()
    let order = found.paths.withUnsafeBufferPointer { paths in
      (0..<found.count).sorted { a, b in
        let (x, y) = (found.pathRange(a), found.pathRange(b))
        return UnsafeBufferPointer(rebasing: paths[x]).lexicographicallyPrecedes(
          UnsafeBufferPointer(rebasing: paths[y]))
      }
    }
    var last: Int?
    for index in order {
      if let last, found.path(last) == found.path(index) { continue }
      sorted.append(index, of: found)
      last = index
    }
    return sorted
  }
}
